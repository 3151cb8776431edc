"""One block: the stream goes on, attention and MLP each add to it."""
from .heads import attend_heads
from .layernorm import layer_norm
from .mlp import mlp


def block(x, w, n_head, epsilon=1e-5, remember=None,
          layer_norm=layer_norm, attend_heads=attend_heads, mlp=mlp):
    """x + attention(norm(x)), then x + mlp(norm(x)).

    Shapes: x (T, D) -> (T, D)
    w: the block's arrays under their names in the checkpoint, without "h.0.": w["ln_1.weight"].
    remember: see attend_heads.
    Source: section 2.3 of "Language Models are Unsupervised Multitask Learners" (GPT-2): the
        norm stands at the input of each part.
    Taught: notebooks/09_block.ipynb
    """
    normed = layer_norm(x, w["ln_1.weight"], w["ln_1.bias"], epsilon)               # (T, D)
    x = x + attend_heads(normed, w["attn.c_attn.weight"], w["attn.c_attn.bias"],    # (T, D)
                         w["attn.c_proj.weight"], w["attn.c_proj.bias"], n_head, remember)
    normed = layer_norm(x, w["ln_2.weight"], w["ln_2.bias"], epsilon)               # (T, D)
    return x + mlp(normed, w["mlp.c_fc.weight"], w["mlp.c_fc.bias"],                # (T, D)
                   w["mlp.c_proj.weight"], w["mlp.c_proj.bias"])
