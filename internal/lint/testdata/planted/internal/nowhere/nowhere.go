package nowhere // want layers "has no layer: enter it in layers()"
