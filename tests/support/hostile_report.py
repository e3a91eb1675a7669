"""Completions that try to escape from their place in a report."""

HOSTILE = (
    "<script>document.title='owned'</script>#### 5",
    "</script><script>document.title='owned'</script>",
    "<!--<script>", "]]>", "${document.title='owned'}", "{{7*7}}",
    "<img src=x onerror=\"document.title='owned'\">", "<svg/onload=document.title='owned'>",
    "<a href=\"javascript:document.title='owned'\">click</a>",
    "![x](http://127.0.0.1:9/leak.png) [y](javascript:alert(1))",
    "<iframe src='http://127.0.0.1:9/'></iframe><link rel=stylesheet href=http://127.0.0.1:9/a.css>",
    "<style>*{display:none}</style><base href='http://127.0.0.1:9/'>",
    "\u202eabc\u202c \u2066x\u2069 \u200b\ufeff",  # bidi, zero width
    "\x1b[31mred\x1b[0m \x00 \x07 \x9b", "lone \ud800 surrogate #### 5",
    "=HYPERLINK(\"http://127.0.0.1:9\")", "+1+1", "@SUM(A1)", "-2+3",
    "emoji 😀😀 then #### 5", "Z" + "\u0301" * 400, "'\"`--></textarea></title>",
    "&lt;b&gt; &amp;amp; &#x3c;script&#x3e;",
)  # fmt: skip
