"""A model behind HTTP: in goes a chat's log, out comes the answer, or why there is none.

``port`` is what a reference asks of any model. ``client`` sends a request and reads its stream; ``request_body`` makes
the body and ``images`` its pixels, ``response`` folds the stream's chunks to items. ``client`` needs the extra
``http``, and a message with images the extra ``images``.
"""
