"""The pictures that belong to one lesson only; one file a lesson, named as the notebook is."""
