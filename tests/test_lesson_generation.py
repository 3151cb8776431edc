"""Lesson 13: each step of the way is an array of the trace, in its order, with its lesson."""
import numpy as np
import pytest

import gpt2lab
from cells import ran, run
from gpt2lab.sampling import greedy, probabilities, sample
from gpt2lab.teach import compare, plot, show, yours
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises.generation import write_loop
from gpt2lab.teach.pictures import generation as pictures
from recipes import write_checkpoint

LESSON = ran("13_generation", "import numpy", "def way", "play.explore")
MODEL, TEXT = LESSON["model"], "Once upon a time there was"
STEPS = list(LESSON["way"](TEXT).items())
(draw,) = LESSON["explorers"]


def test_steps_are_the_trace_between_ids_and_word():
    trace = MODEL.trace(MODEL.encode(TEXT))
    assert [name for name, _ in STEPS] == ["ids", *trace, "probabilities", "next word"]
    for name, array in STEPS[1:-2]:
        np.testing.assert_array_equal(array, trace[name])
    np.testing.assert_array_equal(STEPS[0][1], MODEL.encode(TEXT))
    np.testing.assert_array_equal(STEPS[-2][1], probabilities(trace["logits"][-1], 0.8))
    assert STEPS[-1][1].tolist() == [sample(STEPS[-2][1], 0.3)]
    assert len(STEPS) == 78 and LESSON["last"] == 77        # where the notebook's slider ends


@pytest.mark.parametrize("step", [0, 1, 5, 8, 9, 10, 16, 74, 75, 76, 77, 500])
def test_a_step_draws_its_array(step):
    fig = draw(text=TEXT, step=step)
    name, array = STEPS[min(step, len(STEPS) - 1)]
    np.testing.assert_array_equal(fig.drawn[name], array)
    assert name in fig.alt and pictures.lesson(name) in fig.axes[0].get_title()
    assert plot.png(fig).startswith(b"\x89PNG")


def test_words_stand_beside_their_numbers():
    ids, word = STEPS[0][1], STEPS[-1][1]
    for step, shown in ((0, ids), (77, word)):
        texts = [text.get_text() for text in draw(text=TEXT, step=step).axes[0].texts]
        assert texts[::2] == show.tokens(MODEL.tokenizer, shown)
        assert texts[1::2] == [str(i) for i in shown]
    ax = draw(text=TEXT, step=76).axes[0]
    best = np.argsort(-STEPS[-2][1], kind="stable")[:12]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == show.tokens(MODEL.tokenizer, best)
    assert [bar.get_width() for bar in ax.patches] == STEPS[-2][1][best].tolist()


def test_a_step_does_not_run_the_model_again():
    LESSON["way"].cache_clear()
    for step in range(5):
        draw(text=TEXT, step=step)
    assert LESSON["way"].cache_info().misses == 1


@pytest.mark.parametrize("name, lesson", [
    ("embed", "04"), ("h.2.ln_1", "05"), ("h.0.attn.q", "07"), ("h.0.attn.c_attn", "01"),
    ("h.1.attn.pattern", "06"), ("h.1.attn", "07"), ("h.3.mlp.act", "08"),
    ("h.3.mlp.c_proj", "01"), ("h.0.resid_mid", "09"), ("logits", "10")])
def test_lesson_of_an_array(name, lesson):
    assert pictures.lesson(name).startswith(lesson)


@pytest.mark.parametrize("text", ["$$ $x$", "<b>&", "a\nb", "🦀", "word " * 60])
def test_any_text(text):
    for step in (0, 10, 76, 77):
        assert plot.png(draw(text=text, step=step)).startswith(b"\x89PNG")


def test_compare_names_the_fault(capsys):
    compare(MODEL)
    assert capsys.readouterr().out.count("alike") == 1
    compare(gpt2lab.load(ops=gpt2lab.Ops(gelu=lambda x: 1 / 0)))
    assert "the model stops: division by zero" in capsys.readouterr().out


def test_compare_reads_what_a_small_model_can_read(tmp_path, capsys):
    sizes = {"model_type": "gpt2", "vocab_size": 256, "n_positions": 48, "n_embd": 8, "n_layer": 1,
             "n_head": 2}
    folder = write_checkpoint(tmp_path, sizes)
    compare(gpt2lab.load(folder))
    assert capsys.readouterr().out == ("logits against the library's: agree to 4 decimals\n"
                                       "greedy text: 25 of 25 tokens alike\n")
    compare(gpt2lab.load(folder, gpt2lab.Ops(gelu=lambda x: np.maximum(x, 0))))
    assert "first fault: h.0.mlp.act is the first" in capsys.readouterr().out


# --- the loop streams and samples

PROMPT = MODEL.encode(TEXT)


def loop_to_the_end(loop):
    ids = []
    while True:
        try:
            ids.append(next(loop))
        except StopIteration as stop:
            return ids, stop.value


def test_the_loop_gives_each_id_before_it_computes_the_next():
    passes = []

    def next_logits(ids):
        passes.append(len(ids))
        return MODEL.next_logits(ids)
    loop = write_loop(next_logits, PROMPT, 5, 256, None, greedy)
    for turn in range(1, 4):
        next(loop)
        assert passes == [len(PROMPT) + i for i in range(turn)]


def test_the_loop_writes_what_the_library_writes():
    wanted = MODEL.generate_ids(PROMPT, max_new_tokens=8, temperature=0, eos_token_id=None)
    assert loop_to_the_end(write_loop(MODEL.next_logits, PROMPT, 8, 256, None, greedy)) == (
        wanted.ids, "enough")
    rng = np.random.default_rng(2)

    def draw(logits):
        return sample(probabilities(logits, 0.8, top_k=40), rng.random())
    drawn = MODEL.generate_ids(PROMPT, max_new_tokens=8, temperature=0.8, top_k=40, seed=2)
    assert loop_to_the_end(write_loop(MODEL.next_logits, PROMPT, 8, 256, None, draw)) == (
        drawn.ids, "enough")
    assert drawn.ids != wanted.ids


def test_a_kept_loop_streams_whole_characters(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))
    answer = """def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"
"""
    space = {"__name__": "__main__"}
    run(answer, space)
    assert verdict(space["write_loop"]).endswith("Kept for the later lessons.")
    loop = yours("write_loop")
    assert loop.__code__.co_filename == str(tmp_path / "write_loop.py")
    crab = MODEL.tokenizer.encode("🦀!")
    rest = iter(crab)
    ids = loop(lambda ids: None, PROMPT, len(crab), 256, None, lambda logits: next(rest))
    pieces = [piece for piece in MODEL.tokenizer.decode_stream(ids) if piece]
    assert pieces == ["🦀", "!"] and len(crab) > 2
