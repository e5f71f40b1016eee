from gramshift.text.terminal import visible


def test_nothing_moves_the_cursor_or_hides():
    assert visible("plain Ünïcödé 雪") == "plain Ünïcödé 雪"
    assert visible("a\x1b[31mb\nc\td\u202ee") == "a\ufffd[31mb c d\ufffde"
