"""Lesson 08: gelu and mlp; what one unit adds; two layers without a GELU; a unit rewritten."""
import math

import numpy as np

from gpt2lab.gelu import exact_gelu, gelu
from gpt2lab.inside import best_tokens, never_seen, trace_of, unit_activations, unit_pushes
from gpt2lab.linear import linear as library_linear
from gpt2lab.mlp import mlp
from gpt2lab.sampling import probabilities
from gpt2lab.teach import show

from . import Case, exercise, mistake, random

# What the lesson looks at: where units are awake in short sentences, and what they push.

# Written for this course, in the style of old children's stories.
CORPUS = (
    "Once upon a time there was a miller who had three sons and one grey cat.",
    "The old king sat upon his golden throne and wept for his lost daughter.",
    "There were two little boys who lived by themselves at the edge of the sea.",
    "She opened the door very softly and looked into the dark room.",
    "He shook his head and said that he knew nothing of the matter.",
    "\"I beg your pardon,\" said the frog; \"I did not mean to frighten you.\"",
    "\"Who are you?\" asked the child. \"I am the wind,\" answered the voice.",
    "\"Come in,\" cried the old woman, \"and warm your hands at the fire.\"",
    "The wolf ran through the forest as fast as he could, but the hare was quicker.",
    "In the morning the sun rose over the hills, and all the birds began to sing.",
    "They walked for seven days and seven nights, until they came to a great river.",
    "The princess took the ring from her finger and threw it into the well.",
    "At last the youngest brother found the key under a flat stone.",
    "\"What shall we do now?\" said the girl, and she began to cry.",
    "The giant lifted the rock with one hand and laughed so loud that the trees shook.",
    "A ship with white sails came slowly into the harbour.",
    "The captain ordered his men to lower the boat and row to the island.",
    "It was so cold that the water in the bucket was frozen.",
    "Then the witch gave her an apple, red on one side and green on the other.",
    "The mouse crept out of its hole, for it smelled the cheese.",
    "\"Do not be afraid,\" said the fairy; \"I will help you.\"",
    "He could not sleep, because he was thinking of the treasure in the cave.",
    "The donkey, the dog and the rooster agreed to travel together.",
    "After supper the grandmother told them a story about the moon.",
    "If you had listened to me, you would not have lost your way.",
    "The soldier drew his sword and stood before the gate.",
    "Her eyes were as blue as the sky, and her hair was as black as coal.",
    "The merchant counted his money twice, and then he counted it again.",
    "Nobody in the village had ever seen such a beautiful bird.",
    "The children were hungry and tired, and their shoes were full of holes.",
    "\"Oh dear!\" cried the duck, \"where are my eggs?\"",
    "The queen looked into the glass, but the glass said nothing at all.",
    "By and by the rain stopped, and they went on their way.",
    "He put the letter in his pocket and rode away upon his horse.",
    "The fox was sitting under the tree, waiting for the crow to drop the meat.",
    "\"You must never open the seventh room,\" said the master of the house.",
    "The poor tailor had nothing left but a needle and a piece of thread.",
    "When the clock struck twelve, the coach turned into a pumpkin again.",
    "The bear did not want to hurt anybody; he only wanted the honey.",
    "So they were married, and they lived happily for a great many years.",
)


def read(model, texts=CORPUS):
    """Every place of some texts, how awake each unit is there, and what a unit may push.

    Gives the P places in words, the activations (P, F) of each block, and the ids of the tokens
    that training has met.
    """
    places = []
    for text in texts:
        tokens = show.tokens(model.tokenizer, model.encode(text))
        places += [bracketed(tokens, t) for t in range(len(tokens))]
    known = np.flatnonzero(~never_seen(model.weights["wte.weight"]))
    return places, unit_activations(model, texts), known


def bracketed(tokens, t, before=3, most=26):
    """The token at t in brackets, behind the tokens before it."""
    text = "".join(tokens[max(0, t - before):t]) + f"[{tokens[t]}]"
    return text if len(text) <= most else "…" + text[1 - most:]


def portrait(model, reading, block, unit, text="", count=7):
    """What pictures.unit draws: where a unit is most awake, and the words that it pushes.

    reading: as read gives it; the best place of a text of your own comes last.
    """
    places, activations, known = reading
    awake = activations[block][:, unit]                                             # (P,)
    best = np.argsort(-awake, kind="stable")[:count]
    labels, act = [places[i] for i in best], [*awake[best]]
    if text:
        ids, trace = trace_of(model, text)
        yours = trace[f"h.{block}.mlp.act"][:, unit]                                # (T,)
        t = int(yours.argmax())
        labels.append("yours: " + bracketed(show.tokens(model.tokenizer, ids), t, most=19))
        act.append(yours[t])
    push = unit_pushes(model.weights, block, unit)                                  # (V,)
    order = known[np.argsort(-push[known], kind="stable")]
    down = round(0.4 * len(labels))             # how many are shown of those that it pushes down
    ids = [*order[:len(labels) - down], *order[-down:]]
    return {"block": block, "unit": unit, "places": labels, "activations": np.array(act),
            "yours": bool(text), "words": show.tokens(model.tokenizer, ids), "pushes": push[ids]}


def without(model, units):
    """The model with some units (block, unit) held at 0."""
    def tap(name, function):
        off = [unit for block, unit in units if name == f"h.{block}.mlp.act"]
        if not off:
            return function
        keep = np.ones(model.config.n_inner, np.float32)                            # (F,)
        keep[off] = 0
        return lambda x: function(x) * keep
    return model.tapped(tap)


def chance(model, text, word):
    """The probability of a word's first token after a text."""
    logits = model.next_logits(model.encode(text))                                  # (V,)
    return float(probabilities(logits)[model.encode(word)[0]])


def likely(model, text, count=2):
    """The tokens that a model thinks most probable after a text, with their probabilities."""
    p = probabilities(model.next_logits(model.encode(text)))                        # (V,)
    best = best_tokens(p, count)
    words = show.tokens(model.tokenizer, best)
    return ", ".join(f"{word} {p[i]:.2f}" for word, i in zip(words, best))


def most_needed(model, text, word, blocks, awake=1.0):
    """The units (block, unit) awake at the end of a text, the one the word needs most first.

    Gives the units and, for each, the word's probability without it. awake: the least activation
    of a unit that is tried; what is nearly asleep adds nearly nothing.
    """
    chance(model, text, word)                   # what it reads the head with is made once for all
    _, trace = trace_of(model, text)
    act = {block: trace[f"h.{block}.mlp.act"][-1] for block in blocks}              # (F,) each
    units = [(b, int(u)) for b in blocks for u in np.flatnonzero(act[b] > awake)]
    left = np.array([chance(without(model, [unit]), text, word) for unit in units])
    order = np.argsort(left, kind="stable")
    return [units[i] for i in order], left[order]


def tanh_form(x, factor):
    """GELU with tanh, with another factor in front of the cube."""
    return _tanh_form(x, cubic=factor)


# Exercises and their mistakes.

ROOT = math.sqrt(2 / math.pi)


def _tanh_form(x, root=ROOT, cubic=0.044715, half=0.5, one=1.0):
    with np.errstate(over="ignore"):
        return (half * x * (one + np.tanh(root * (x + cubic * x * x * x)))).astype(x.dtype)


@mistake(of=gelu)
def erf_gelu(x):
    """This is the other GELU, the one with erf.

    It is the original definition, and nearly the same. GPT-2 was trained with an approximation of
    it. Which function stands in the formula above?
    """
    return exact_gelu(x)


@mistake(of=gelu)
def relu(x):
    """This is ReLU: negative numbers become 0, the others pass.

    GELU is soft: it lets a little of a small negative number through. Try your function on -1.
    """
    return np.maximum(x, 0)


@mistake(of=gelu)
def no_half(x):
    """The factor one half is missing.

    1 + tanh lies between 0 and 2, but a share must lie between 0 and 1. What should a large x
    become?
    """
    return _tanh_form(x, half=1.0)


@mistake(of=gelu)
def no_one(x):
    """The 1 in front of the tanh is missing.

    tanh lies between -1 and 1. What must you add before one half makes a share of it?
    """
    return _tanh_form(x, one=0.0)


@mistake(of=gelu)
def no_cube(x):
    """The term with the cube of x is missing.

    Inside the tanh stands a sum of two terms. What is the second one?
    """
    return _tanh_form(x, cubic=0.0)


@mistake(of=gelu)
def float64_gelu(x):
    """The values are right, but float32 numbers have become float64.

    np.sqrt of a plain number gives a NumPy float64, and that turns a float32 array into float64:
    twice the memory. Which module of Python gives the root as a plain number?
    """
    return gelu(x.astype(np.float64))


@mistake(of=gelu)
def sigmoid_gelu(x):
    """This is the sigmoid form, x / (1 + exp(-1.702 x)).

    It is quick and coarse, and other models use it. Which function stands in the formula above?
    """
    with np.errstate(over="ignore"):
        return (x / (1 + np.exp(-1.702 * x))).astype(x.dtype)


@mistake(of=gelu)
def silu(x):
    """This is SiLU, x / (1 + exp(-x)).

    Llama and others use it, GPT-2 does not. Which function stands in the formula above?
    """
    with np.errstate(over="ignore"):
        return (x / (1 + np.exp(-x))).astype(x.dtype)


@mistake(of=gelu)
def square_for_cube(x):
    """The square of x stands where the cube should be.

    A square forgets the sign of x. Which power is in the formula?
    """
    return (0.5 * x * (1 + np.tanh(ROOT * (x + 0.044715 * x * x)))).astype(x.dtype)


@mistake(of=gelu)
def no_root(x):
    """2 / pi is not under a square root.

    The factor in front of the bracket is near 0.8. How large is yours?
    """
    return _tanh_form(x, root=2 / math.pi)


@mistake(of=gelu)
def root_upside_down(x):
    """The root is taken of pi / 2, not of 2 / pi.

    The factor in front of the bracket is near 0.8. How large is yours?
    """
    return _tanh_form(x, root=math.sqrt(math.pi / 2))


@mistake(of=gelu)
def ten_times_the_cube(x):
    """The factor of the cube is ten times too large.

    Count the zeros behind the point in 0.044715. How many are there in yours?
    """
    return _tanh_form(x, cubic=0.44715)


@mistake(of=gelu)
def root_of_two_alone(x):
    """The root covers the 2 only, not the whole of 2 / pi.

    Where do the brackets of the root close?
    """
    return _tanh_form(x, root=math.sqrt(2) / math.pi)


@mistake(of=gelu)
def root_of_pi_alone(x):
    """The root covers pi only, not the whole of 2 / pi.

    Where do the brackets of the root close?
    """
    return _tanh_form(x, root=2 / math.sqrt(math.pi))


@mistake(of=gelu)
def share_only(x):
    """The share comes out, not x times the share.

    Between 0 and 1 lies the part of x that may pass. What is the share multiplied with?
    """
    return (0.5 * (1 + np.tanh(ROOT * (x + 0.044715 * x * x * x)))).astype(x.dtype)


@mistake(of=gelu)
def cube_outside(x):
    """The factor in front of the bracket meets x only, not the cube.

    It multiplies the sum of both terms. Where does the bracket open, and where does it close?
    """
    return (0.5 * x * (1 + np.tanh(ROOT * x + 0.044715 * x * x * x))).astype(x.dtype)


@mistake(of=gelu)
def cube_alone(x):
    """Inside the tanh stands the cube alone, without x itself.

    For a small x the cube is next to nothing. Which two terms does the bracket hold?
    """
    return (0.5 * x * (1 + np.tanh(ROOT * 0.044715 * x * x * x))).astype(x.dtype)


@mistake(of=gelu)
def factor_cubed(x):
    """The factor is cubed as well as x.

    0.044715 x³ means: first the cube, then the factor. What stands inside your power?
    """
    inner = 0.044715 * x
    return (0.5 * x * (1 + np.tanh(ROOT * (x + inner * inner * inner)))).astype(x.dtype)


@mistake(of=gelu)
def three_times_for_cube(x):
    """Three times x stands where the cube of x should be.

    The cube of 2 is 8. How often does x stand in a product that gives it?
    """
    return (0.5 * x * (1 + np.tanh(ROOT * (x + 0.044715 * (3 * x))))).astype(x.dtype)


@mistake(of=gelu)
def root_of_the_product(x):
    """The root is taken of 2 times pi, not of 2 divided by pi.

    The factor in front of the bracket is near 0.8. How large is yours?
    """
    return _tanh_form(x, root=math.sqrt(2 * math.pi))


@mistake(of=gelu)
def share_falls(x):
    """The tanh is taken from 1, not added: the share falls where it should rise.

    A large x should pass, a large negative one should not. What becomes of 3 in your function?
    """
    return (0.5 * x * (1 - np.tanh(ROOT * (x + 0.044715 * x * x * x)))).astype(x.dtype)


@mistake(of=gelu)
def no_bracket(x):
    """The tanh is added to x times one half, not to the 1 before the product.

    Python multiplies first. Which two numbers must be added before they meet x?
    """
    return (0.5 * x + np.tanh(ROOT * (x + 0.044715 * x * x * x))).astype(x.dtype)


@mistake(of=gelu)
def half_is_zero(x):
    """Everything becomes 0: 1 // 2 is 0, because // gives whole numbers.

    Which operator divides with digits behind the point? Or how do you write one half as a number?
    """
    return 0 * x


@mistake(of=gelu)
def negative_cut(x):
    """The negative numbers become 0, though the rest is GELU.

    GELU lets a little of a small negative number through. Try your function on -1.
    """
    return np.where(x > 0, gelu(x), 0).astype(x.dtype)


@mistake(of=gelu)
def tanh_of_one_number(x):
    """math.tanh takes one number, not an array.

    The functions of math know single numbers only. Which module has a tanh for whole arrays?
    """
    return 0.5 * x * (1 + math.tanh(ROOT * (x + 0.044715 * x * x * x)))


@mistake(of=gelu)
def tanh_overflows(x):
    """A tanh made of exponentials overflows for large numbers.

    Infinity divided by infinity is nan, and x times nan is nan as well. Which function of NumPy
    knows that tanh ends at 1?
    """
    inner = ROOT * (x + 0.044715 * x * x * x)
    up, down = np.exp(inner), np.exp(-inner)
    return (0.5 * x * (1 + (up - down) / (up + down))).astype(x.dtype)


@mistake(of=gelu)
def elu(x):
    """This is ELU: exp(x) - 1 for negative numbers, the others pass.

    GELU falls back to 0 for large negative numbers. Which function stands in the formula above?
    """
    return np.where(x > 0, x, np.exp(x) - 1).astype(x.dtype)


@mistake(of=gelu)
def x_times_density(x):
    """x is multiplied with the normal density, the bell, not with a share that grows up to 1.

    The share says how much of the bell lies below x. What should a large x become?
    """
    return (x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)).astype(x.dtype)


@mistake(of=gelu)
def changed_in_place(x):
    """The caller's array is changed: an operator such as *= writes into it.

    Whoever called may still need it. What does x = x * 2 do, and what does *= do?
    """
    x[...] = gelu(x)
    return x


@mistake(of=mlp)
def no_nonlinearity(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """There is no GELU between the two layers.

    Then both layers together are no more than one layer, and widening was for nothing. What
    happens to the T rows of F numbers before they come back to D?
    """
    return linear(linear(x, w_fc, b_fc), w_proj, b_proj)


@mistake(of=mlp)
def gelu_after_projection(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """GELU comes after the second layer, not between the two.

    It switches the F units, so it must act while there are F numbers. What shape has the array
    that you give to gelu?
    """
    return gelu(linear(linear(x, w_fc, b_fc), w_proj, b_proj))


@mistake(of=mlp)
def gelu_twice(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """GELU acts between the layers and once more at the end.

    What the MLP adds to the stream may be as negative as it likes. Where does the formula have
    a GELU?
    """
    return gelu(mlp(x, w_fc, b_fc, w_proj, b_proj, linear, gelu))


@mistake(of=mlp)
def gelu_first(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """GELU acts on x, before the first layer.

    First widen, then switch. What do you give to gelu?
    """
    return linear(linear(gelu(x), w_fc, b_fc), w_proj, b_proj)


@mistake(of=mlp)
def no_fc_bias(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The bias of the first layer is forgotten.

    It says how easily each unit wakes. What becomes of b_fc in your function?
    """
    return mlp(x, w_fc, np.zeros_like(b_fc), w_proj, b_proj, linear, gelu)


@mistake(of=mlp)
def no_proj_bias(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The bias of the second layer is forgotten.

    Read the formula to its end. What becomes of b_proj in your function?
    """
    return mlp(x, w_fc, b_fc, w_proj, np.zeros_like(b_proj), linear, gelu)


@mistake(of=mlp)
def no_bias(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """Both biases are forgotten.

    linear takes x, w and b. What becomes of b_fc and b_proj in your function?
    """
    return mlp(x, w_fc, np.zeros_like(b_fc), w_proj, np.zeros_like(b_proj), linear, gelu)


@mistake(of=mlp)
def with_residual(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """x itself is added to the result.

    Adding to the stream is the block's work, in the next lesson. What does the formula give back?
    """
    return x + mlp(x, w_fc, b_fc, w_proj, b_proj, linear, gelu)


@mistake(of=mlp)
def transposed(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """Both weights are transposed.

    GPT-2's file stores them as (in, out), ready for x @ w. Other files store (out, in). Which
    shapes do you have here?
    """
    return linear(gelu(linear(x, w_fc.T, b_fc)), w_proj.T, b_proj)


@mistake(of=mlp)
def one_layer_twice(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The way back uses the first layer's weights, transposed.

    Keys and values are different numbers: each layer has its own. Which weight has the shape
    (F, D)?
    """
    return linear(gelu(linear(x, w_fc, b_fc)), w_fc.T, b_proj)


@mistake(of=mlp)
def gelu_ignored(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The gelu that is handed in is not used.

    The model can be run with another one, yours for example. Call the argument gelu; what do you
    call now?
    """
    return mlp(x, w_fc, b_fc, w_proj, b_proj, linear)


@mistake(of=mlp)
def relu_in_mlp(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """A ReLU stands between the layers.

    That is how the first transformer did it. GPT-2 has GELU; it is handed in as an argument.
    """
    return mlp(x, w_fc, b_fc, w_proj, b_proj, linear, relu)


@mistake(of=mlp)
def linear_ignored(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The linear that is handed in is not used in both layers.

    The model can be run with another one, yours for example. Write linear(...) instead of @.
    """
    return mlp(x, w_fc, b_fc, w_proj, b_proj, library_linear, gelu)


@mistake(of=mlp)
def linear_arguments_swapped(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """linear gets the weight first and the rows second.

    Its order is x, w, b, as in x @ w + b. What stands first in your call?
    """
    return linear(w_proj, gelu(linear(w_fc, x, b_fc)), b_proj)


@mistake(of=mlp)
def layers_swapped(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The two layers are swapped: the one that comes back stands first.

    First a row becomes wide, then narrow again. Which weight has the shape (D, F)?
    """
    return linear(gelu(linear(x, w_proj, b_proj)), w_fc, b_fc)


@mistake(of=mlp)
def biases_swapped(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The two biases are swapped.

    A layer's bias has a number for each column that comes out. Which one has F numbers?
    """
    return linear(gelu(linear(x, w_fc, b_proj)), w_proj, b_fc)


@mistake(of=mlp)
def biases_twice(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """Each bias is added twice.

    linear adds the bias that it gets. What else do you add?
    """
    return linear(gelu(linear(x, w_fc, b_fc) + b_fc), w_proj, b_proj) + b_proj


@mistake(of=mlp)
def bias_after_gelu(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The first bias is added after GELU, not before.

    It says how easily a unit wakes, so GELU must see it. Where does the formula add it?
    """
    return linear(gelu(linear(x, w_fc, np.zeros_like(b_fc))) + b_fc, w_proj, b_proj)


@mistake(of=mlp)
def first_layer_only(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The wide rows come out: the second layer is missing.

    The result must fit the stream, D numbers a row. Which two arguments have you not used?
    """
    return gelu(linear(x, w_fc, b_fc))


@mistake(of=mlp)
def gelu_twice_inside(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """GELU acts twice between the layers.

    Once is enough. Is the array that you give to gelu one that has been through it?
    """
    return linear(gelu(gelu(linear(x, w_fc, b_fc))), w_proj, b_proj)


@mistake(of=mlp)
def gated(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The wide rows are multiplied with their own GELU.

    gelu gives back x times the share already. What is left to multiply?
    """
    wide = linear(x, w_fc, b_fc)
    return linear(wide * gelu(wide), w_proj, b_proj)


@mistake(of=mlp)
def normed_again(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The rows are normed here, and the block has done that.

    The norm is the block's work, in the next lesson. What does the formula do with x first?
    """
    x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return linear(gelu(linear(x, w_fc, b_fc)), w_proj, b_proj)


@mistake(of=mlp)
def rows_averaged(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The rows are averaged, so that one row is left.

    The MLP works on each row alone: T rows in, T rows out. Which axis has your mean?
    """
    return mlp(x.mean(axis=0, keepdims=True), w_fc, b_fc, w_proj, b_proj, linear, gelu)


@mistake(of=mlp)
def first_row_only(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """Only the first row is used.

    T rows come in, and T rows go out. What does x[0] leave?
    """
    return mlp(x[0], w_fc, b_fc, w_proj, b_proj, linear, gelu)


@mistake(of=mlp)
def hidden_as_well(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """Two arrays come out, the wide rows and the result.

    The block adds what comes out to the stream. Which of the two does it need?
    """
    hidden = gelu(linear(x, w_fc, b_fc))
    return hidden, linear(hidden, w_proj, b_proj)


@mistake(of=mlp)
def mlp_in_float64(x, w_fc, b_fc, w_proj, b_proj, linear=library_linear, gelu=gelu):
    """The values are right, but float32 numbers have become float64.

    np.zeros makes float64 numbers, if it is not told another type. Where does such an array come
    in?
    """
    return mlp(x, w_fc, b_fc, w_proj, b_proj, linear, gelu).astype(np.float64)


def one_unit(x, u, w_fc, b_fc, w_proj):
    """The right answer to the exercise at the end: what unit u adds to each row (T, D)."""
    awake = gelu(x @ w_fc[:, u] + b_fc[u])                                          # (T,)
    return awake[:, None] * w_proj[u]                                               # (T, D)


@mistake(of=one_unit)
def unit_row_as_key(x, u, w_fc, b_fc, w_proj):
    """The key is taken from a row of c_fc, not from a column.

    c_fc is stored as (in, out): D rows, F columns. There are F keys. Which axis counts them?
    """
    return gelu(x @ w_fc[u] + b_fc[u])[:, None] * w_proj[u]


@mistake(of=one_unit)
def unit_column_as_value(x, u, w_fc, b_fc, w_proj):
    """The value is taken from a column of c_proj, not from a row.

    c_proj is stored as (in, out): F rows, D columns. There are F values. Which axis counts them?
    """
    return gelu(x @ w_fc[:, u] + b_fc[u])[:, None] * w_proj[:, u]


@mistake(of=one_unit)
def unit_without_gelu(x, u, w_fc, b_fc, w_proj):
    """GELU is left out.

    The match with the key is a plain number. What decides how much of it passes?
    """
    return (x @ w_fc[:, u] + b_fc[u])[:, None] * w_proj[u]


@mistake(of=one_unit)
def unit_without_bias(x, u, w_fc, b_fc, w_proj):
    """The unit's bias is left out.

    Each of the F units has one number in b_fc. When is it added?
    """
    return gelu(x @ w_fc[:, u])[:, None] * w_proj[u]


@mistake(of=one_unit)
def unit_activation_only(x, u, w_fc, b_fc, w_proj):
    """The activation comes out, not what the unit adds.

    An activation is one number a token. The unit adds a row of D numbers: its value, times this
    number.
    """
    return gelu(x @ w_fc[:, u] + b_fc[u])


@mistake(of=one_unit)
def unit_without_column(x, u, w_fc, b_fc, w_proj):
    """The activations (T,) and the value (D,) are multiplied number by number.

    Each of the T activations must meet all D numbers. Which shape must the activations have, so
    that NumPy makes a table (T, D)?
    """
    return gelu(x @ w_fc[:, u] + b_fc[u]) * w_proj[u]


@mistake(of=one_unit)
def unit_after_the_asked(x, u, w_fc, b_fc, w_proj):
    """It is the unit before the one that is asked for: units count from 0.

    Unit 2 is the third one. What do you take from u?
    """
    return one_unit(x, u - 1, w_fc, b_fc, w_proj)


@mistake(of=one_unit)
def all_units(x, u, w_fc, b_fc, w_proj):
    """All units are added up, not one alone.

    Asked for is the part of unit u. Which column of c_fc, which number of b_fc and which row of
    c_proj are its own?
    """
    return gelu(x @ w_fc + b_fc) @ w_proj


@mistake(of=one_unit)
def bias_of_all_units(x, u, w_fc, b_fc, w_proj):
    """The unit gets the biases of all units.

    b_fc has F numbers, one for each unit. Which one belongs to this unit?
    """
    return gelu(x @ w_fc[:, u] + b_fc)[:, None] * w_proj[u]


@mistake(of=one_unit)
def unit_in_float64(x, u, w_fc, b_fc, w_proj):
    """The values are right, but float32 numbers have become float64.

    np.zeros makes float64 numbers, if it is not told another type. Where does such an array come
    in?
    """
    return one_unit(x, u, w_fc, b_fc, w_proj).astype(np.float64)


def merged(w_fc, b_fc, w_proj, b_proj):
    """The right answer to the first exercise: weight and bias of the one layer."""
    return w_fc @ w_proj, b_fc @ w_proj + b_proj


@mistake(of=merged)
def merged_bias_added(w_fc, b_fc, w_proj, b_proj):
    """The first bias does not go through the second layer.

    (x W1 + b1) W2 + b2: multiply the bracket out. What stands behind b1?
    """
    return w_fc @ w_proj, b_fc + b_proj


@mistake(of=merged)
def merged_second_bias_only(w_fc, b_fc, w_proj, b_proj):
    """Only the second bias is left, the first one is lost.

    (x W1 + b1) W2 + b2: multiply the bracket out. How many terms are there?
    """
    return w_fc @ w_proj, b_proj


@mistake(of=merged)
def merged_first_bias_only(w_fc, b_fc, w_proj, b_proj):
    """The second bias is lost.

    (x W1 + b1) W2 + b2: multiply the bracket out. How many terms are there?
    """
    return w_fc @ w_proj, b_fc @ w_proj


@mistake(of=merged)
def merged_wrong_order(w_fc, b_fc, w_proj, b_proj):
    """The weights are multiplied in the wrong order.

    x comes from the left and meets W1 first. The one layer must have the shape (D, D).
    """
    return w_proj @ w_fc, b_fc @ w_proj + b_proj


@mistake(of=merged)
def merged_pair_swapped(w_fc, b_fc, w_proj, b_proj):
    """The bias comes first and the weight second.

    Asked for are weight and bias, in this order. What stands first behind return?
    """
    return b_fc @ w_proj + b_proj, w_fc @ w_proj


@mistake(of=merged)
def merged_transposed(w_fc, b_fc, w_proj, b_proj):
    """The weight is transposed.

    x comes from the left: the axis that x meets must come first. Which order did the product have?
    """
    return (w_fc @ w_proj).T, b_fc @ w_proj + b_proj


@mistake(of=merged)
def merged_bias_in_the_weight(w_fc, b_fc, w_proj, b_proj):
    """The first bias is added to the product of the weights.

    It does not meet x. Multiply the bracket out: which terms have an x, and which have none?
    """
    return w_fc @ w_proj + b_fc @ w_proj, b_proj


@mistake(of=merged)
def merged_with_gelu(w_fc, b_fc, w_proj, b_proj):
    """There is a GELU in it.

    Asked for is what two layers do without one. What is gelu given here?
    """
    return gelu(w_fc) @ w_proj, gelu(b_fc) @ w_proj + b_proj


def rewrite(w_fc, b_fc, w_proj, u, row, value):
    """What section 9 asks for: unit u wakes at this row, and adds this value.

    Shapes: as in mlp; row (D,), value (D,) -> copies of w_fc, b_fc, w_proj.
    """
    w_fc, b_fc, w_proj = w_fc.copy(), b_fc.copy(), w_proj.copy()
    w_fc[:, u] = 50 * row / (row @ row)
    b_fc[u] = -40
    w_proj[u] = value
    return w_fc, b_fc, w_proj


@mistake(of=rewrite)
def rewrite_in_place(w_fc, b_fc, w_proj, u, row, value):
    """The caller's arrays are changed: there are no copies.

    The model still needs its own numbers. What must you make of the three arrays first?
    """
    w_fc[:, u], b_fc[u], w_proj[u] = 50 * row / (row @ row), -40, value
    return w_fc, b_fc, w_proj


@mistake(of=rewrite)
def rewrite_row_of_keys(w_fc, b_fc, w_proj, u, row, value):
    """The key is written into a row of w_fc, not into a column.

    There are F keys, and w_fc has F columns. How did you reach the key of one unit above?
    """
    w_fc, b_fc, w_proj = rewrite(w_fc, b_fc, w_proj, u, row, value)
    key = w_fc[:, u].copy()
    w_fc[u] = key
    return w_fc, b_fc, w_proj


@mistake(of=rewrite)
def rewrite_column_of_values(w_fc, b_fc, w_proj, u, row, value):
    """The value is written into a column of w_proj, not into a row.

    There are F values, and w_proj has F rows. How did you reach the value of one unit above?
    """
    new_fc, new_bias, _ = rewrite(w_fc, b_fc, w_proj, u, row, value)
    w_proj = w_proj.copy()
    w_proj[:, u] = value
    return new_fc, new_bias, w_proj


@mistake(of=rewrite)
def rewrite_undivided(w_fc, b_fc, w_proj, u, row, value):
    """The key is not divided by the row times itself.

    The row times your key must give 50. The row times the bare row gives row @ row: what must you
    divide by?
    """
    new_fc, new_bias, new_proj = rewrite(w_fc, b_fc, w_proj, u, row, value)
    new_fc[:, u] = 50 * row
    return new_fc, new_bias, new_proj


@mistake(of=rewrite)
def rewrite_by_length(w_fc, b_fc, w_proj, u, row, value):
    """The key is divided by the length of the row, not by the square of the length.

    The row times the bare row gives row @ row, the square. What must be left over is 50.
    """
    new_fc, new_bias, new_proj = rewrite(w_fc, b_fc, w_proj, u, row, value)
    new_fc[:, u] = 50 * row / np.linalg.norm(row)
    return new_fc, new_bias, new_proj


@mistake(of=rewrite)
def rewrite_bias_kept(w_fc, b_fc, w_proj, u, row, value):
    """The unit's bias is still the old one.

    Without a negative bias the unit wakes at rows that match only a little. Which number is its own
    in b_fc?
    """
    new_fc, _, new_proj = rewrite(w_fc, b_fc, w_proj, u, row, value)
    return new_fc, b_fc.copy(), new_proj


@mistake(of=rewrite)
def rewrite_bias_positive(w_fc, b_fc, w_proj, u, row, value):
    """The bias is 40, not -40: the unit is always awake.

    50 from the match and the bias must leave 10. Which sign has the bias?
    """
    new_fc, new_bias, new_proj = rewrite(w_fc, b_fc, w_proj, u, row, value)
    new_bias[u] = 40
    return new_fc, new_bias, new_proj


@mistake(of=rewrite)
def rewrite_bias_added(w_fc, b_fc, w_proj, u, row, value):
    """The new bias is added to the old one.

    The unit is to be another one: what it had before must go. What does += do?
    """
    new_fc, new_bias, new_proj = rewrite(w_fc, b_fc, w_proj, u, row, value)
    new_bias[u] = b_fc[u] - 40
    return new_fc, new_bias, new_proj


@mistake(of=rewrite)
def rewrite_bias_of_all(w_fc, b_fc, w_proj, u, row, value):
    """Every unit gets the bias -40, and all fall asleep.

    One unit is to be rewritten. Which number of b_fc is its own?
    """
    new_fc, new_bias, new_proj = rewrite(w_fc, b_fc, w_proj, u, row, value)
    new_bias[:] = -40
    return new_fc, new_bias, new_proj


@mistake(of=rewrite)
def rewrite_value_added(w_fc, b_fc, w_proj, u, row, value):
    """The new value is added to the old one.

    The unit is to be another one: what it had before must go. What does += do?
    """
    new_fc, new_bias, new_proj = rewrite(w_fc, b_fc, w_proj, u, row, value)
    new_proj[u] = w_proj[u] + value
    return new_fc, new_bias, new_proj


@mistake(of=rewrite)
def rewrite_value_kept(w_fc, b_fc, w_proj, u, row, value):
    """The unit's value is still the old one.

    The unit wakes where it should, and adds what it always has. Which row of w_proj is its own?
    """
    new_fc, new_bias, _ = rewrite(w_fc, b_fc, w_proj, u, row, value)
    return new_fc, new_bias, w_proj.copy()


@mistake(of=rewrite)
def rewrite_key_kept(w_fc, b_fc, w_proj, u, row, value):
    """The unit's key is still the old one.

    It must be made from the row, so that this row wakes it. Which column of w_fc is its own?
    """
    _, new_bias, new_proj = rewrite(w_fc, b_fc, w_proj, u, row, value)
    return w_fc.copy(), new_bias, new_proj


@mistake(of=rewrite)
def rewrite_pair_swapped(w_fc, b_fc, w_proj, u, row, value):
    """Row and value are swapped.

    The row says when the unit wakes, the value what it adds. Which of them goes into w_fc?
    """
    return rewrite(w_fc, b_fc, w_proj, u, value, row)


@mistake(of=rewrite)
def rewrite_value_times_activation(w_fc, b_fc, w_proj, u, row, value):
    """The value is multiplied by 10 already.

    The MLP multiplies it with the activation, which will be 10. What goes into the row of w_proj?
    """
    return rewrite(w_fc, b_fc, w_proj, u, row, 10 * value)


@mistake(of=rewrite)
def rewrite_order(w_fc, b_fc, w_proj, u, row, value):
    """The three arrays come out in another order.

    Asked for are w_fc, b_fc and w_proj, as they came in. What stands where behind return?
    """
    new_fc, new_bias, new_proj = rewrite(w_fc, b_fc, w_proj, u, row, value)
    return new_fc, new_proj, new_bias


@mistake(of=rewrite)
def rewrite_value_only(w_fc, b_fc, w_proj, u, row, value):
    """Only w_fc comes out, not all three arrays.

    The model needs the whole of w_fc, b_fc and w_proj. What stands behind return?
    """
    return rewrite(w_fc, b_fc, w_proj, u, row, value)[0]


def half(x):
    """A gelu that is none, to see whether the argument is used."""
    return x / 2


def doubled(x, w, b):
    """A linear that is none, to see whether the argument is used."""
    return 2 * library_linear(x, w, b)


def made(T, D, F, seed, scale=1.0):
    """x, w_fc, b_fc, w_proj, b_proj for T tokens."""
    return (random(T, D, seed=seed), random(D, F, seed=seed + 1, scale=scale),
            random(F, seed=seed + 2), random(F, D, seed=seed + 3), random(D, seed=seed + 4))


def whole(*numbers):
    return np.array(numbers, np.float32)


GELU = [
    Case("the whole numbers from -3 to 3", (np.arange(-3, 4).astype(np.float32),)),
    Case("where the two GELUs differ most", (whole(-2.7, 2.7, -1.36, 1.36),)),
    Case("numbers near 0", (random(6, seed=1, scale=0.05),)),
    Case("three rows", (random(3, 4, seed=2, scale=2),)),
    Case("large numbers", (whole(-1e4, -30, 30, 1e4),)),
    Case("a stack of rows, shape (2, 3, 4)", (random(2, 3, 4, seed=3),)),
]
HAND = whole([2]), whole([1, -1, 3, -2]), whole(0, 0, -5, 3), whole([1], [5], [2], [7]), whole(1)
MLP = [
    Case("the numbers of the hand example", HAND),
    Case("three rows, D = 4, F = 16", made(3, 4, 16, 10)),
    Case("as many units as columns: F = D", made(3, 4, 4, 20)),
    Case("one row", made(1, 2, 8, 30)),
    Case("a gelu of the caller's own", made(2, 2, 8, 40), {"gelu": half}),
    Case("a linear of the caller's own", made(2, 2, 8, 50), {"linear": doubled}),
]
UNIT = [
    Case("unit 2 of the hand example", (HAND[0], 2, *HAND[1:4])),
    Case("three rows, F = 8, unit 5", (made(3, 4, 8, 60)[0], 5, *made(3, 4, 8, 60)[1:4])),
    Case("F = D = 4, unit 1", (made(3, 4, 4, 70)[0], 1, *made(3, 4, 4, 70)[1:4])),
    Case("as many rows as columns", (made(4, 4, 4, 80)[0], 3, *made(4, 4, 4, 80)[1:4])),
]
MERGED = [
    Case("D = 1, F = 4: the hand example", HAND[1:]),
    Case("D = 3, F = 5", made(1, 3, 5, 90)[1:]),
    Case("D = F = 3", made(1, 3, 3, 95)[1:]),
]
REWRITE = [
    Case("D = 2, F = 4: the row (3, 4) for unit 1",
         (*made(1, 2, 4, 100)[1:4], 1, whole(3, 4), whole(1, -1))),
    Case("D = F = 3, unit 2", (*made(1, 3, 3, 105)[1:4], 2, random(3, seed=110, scale=3),
                               random(3, seed=111))),
    Case("D = 3, F = 12, unit 0", (*made(1, 3, 12, 115)[1:4], 0, random(3, seed=120),
                                   random(3, seed=121))),
]

exercise(gelu, GELU, tolerance=1e-6)
exercise(mlp, MLP)
exercise(one_unit, UNIT)
exercise(merged, MERGED)
exercise(rewrite, REWRITE)
