"""HTML: a self-contained page that runs nothing and loads nothing, and the parts that it shares with the viewer.

`SectionView` is what a template shows of a part of a conversation; `environment` makes the templates safe by escaping
whatever they are given.
"""
