import { describe, expect, it } from 'vitest'
import { htmlToMarkdown } from '../../src/web/html-to-markdown.ts'

const of = (html: string): string => htmlToMarkdown(html, 'https://example.org/dir/page').markdown

describe('words that a reader without scripts sees', () => {
  it.each([
    [
      'a question on a button',
      '<h3><button aria-expanded=false>What is it?</button></h3><div>A pump.</div>',
      '### What is it?\n\nA pump.',
    ],
    [
      'a question without a heading',
      '<button>How long does it take?</button><p>A day.',
      'How long does it take?\n\nA day.',
    ],
    ['a question without spaces', '<button>配送は？</button><p>A', '配送は？\n\nA'],
    [
      'a control that opens something',
      '<button aria-controls=x>Delivery</button><div id=x>Two days',
      'Delivery\n\nTwo days',
    ],
    [
      'a sorted column',
      '<table><tr><th><button>Name</button><th>Age<tr><td>Ada<td>36</table>',
      '| Name | Age |\n| --- | --- |\n| Ada | 36 |',
    ],
    ['no single word on a control', '<p>x</p><button>Copy</button><button></button>', 'x'],
    ['nothing hidden on a button', '<button aria-expanded=true>Is it? <span hidden>evil</span></button>', 'Is it?'],
    [
      'details and their summary',
      '<details><summary>Q</summary>A <b>b</b></details><details><summary>R</summary><ul><li>S</ul></details>',
      'Q\n\nA **b**\n\nR\n\n-   S',
    ],
    ['what stands there without scripts', '<p>a</p><noscript><p>Call 555</p></noscript>', 'a\n\nCall 555'],
    [
      'not twice what a script would load',
      '<img alt=Map data-src=/m.png src="data:,"><noscript><img src=/m.png alt=Map></noscript>',
      '![Map](https://example.org/m.png)',
    ],
    ['not twice what stands there anyway', '<p>Only words.</p><noscript>Only words.</noscript>', 'Only words.'],
    ['an open dialog', '<dialog open>Now</dialog><dialog>Later</dialog>', 'Now'],
    ['no template', '<template><p>no</template><p>yes', 'yes'],
    [
      'a shadow root that stands in the page',
      '<x-app><template shadowrootmode="open"><style>p{}</style><h1>Hello</h1><p>words</p></template></x-app>',
      '# Hello\n\nwords',
    ],
    [
      'what is put into the slots of a shadow root',
      '<x-card><template shadowrootmode=closed><slot name=title>Loading</slot><p><slot>Nothing</slot></p><slot name=end>The end</slot></template><p>First</p><h2 slot=title>Card</h2></x-card>',
      '## Card\n\nFirst\n\nThe end',
    ],
    [
      'a shadow root within another',
      '<x-a><template shadowrootmode=open><p>Out</p><x-b><template shadowrootmode=open><p>In</p></template></x-b></template></x-a>',
      'Out\n\nIn',
    ],
    ['no template of another mode', '<template shadowrootmode=no><p>no</p></template><p>yes', 'yes'],
    ['a page within the page', `<iframe srcdoc="&lt;h2&gt;In&lt;/h2&gt;&lt;p hidden&gt;no"></iframe>`, '## In'],
    [
      'the name of a frame',
      '<iframe src=/map title="Map of the site"></iframe>',
      '[frame: Map of the site](https://example.org/map)',
    ],
    [
      'frames',
      '<frameset><frame src=a.html name=menu><noframes>no</noframes></frameset>',
      '[frame: menu](https://example.org/dir/a.html)',
    ],
    [
      'the option that is chosen',
      '<label>Size <select><option>S<option selected>M<option hidden>no</select></label>',
      'Size M (or: S)',
    ],
    [
      'the value of a field',
      '<label>Key <input readonly value="ab-12"></label><input type=hidden value=no><input type=password value=no>',
      'Key ab-12',
    ],
    [
      'the state of a box',
      '<ul><li><input type=checkbox checked> Done<li><input type=checkbox> Open</ul>',
      '-   [x] Done\n-   [ ] Open',
    ],
    ['the text of a text field', '<textarea>one\ntwo</textarea>', 'one two'],
    ['a gauge', '<meter value=3 max=5></meter> <progress value=70 max=100>70 %</progress>', '3 of 5 70 %'],
    ['the author of a quotation', '<blockquote><p>Q</p><footer>Ada</footer></blockquote>', '> Q\n> \n> Ada'],
    [
      'a remark in an article',
      '<article><p>a</p><aside>Mind the gap.</aside><aside><a href=/b>More</a></aside></article>',
      'a\n\nMind the gap.',
    ],
    [
      'the hours in the footer of a page, without its links',
      '<main>a</main><footer><h3>Open</h3><p>Tue–Sun 18–23</p><nav><a href=/b>Our menu of the season</a></nav></footer>',
      'a\n\n### Open\n\nTue–Sun 18–23',
    ],
    [
      'an address with links to call and to write to',
      '<p>a</p><div role=contentinfo>Via Roma 1 <a href="tel:+3906123">+39 06 123</a> <a href=mailto:a@b.example>a@b.example</a></div>',
      'a\n\nVia Roma 1 [+39 06 123](tel:+3906123) [a@b.example](mailto:a@b.example)',
    ],
    ['what a search in the page may find', '<div hidden="until-found">Answer</div><div hidden>no</div>', 'Answer'],
    [
      'an accordion that is closed to readers of screens',
      '<button aria-controls="p1">Does it hurt?</button><div id=p1 aria-hidden=true>No.</div>',
      'Does it hurt?\n\nNo.',
    ],
    ['an answer behind its heading', '<h3>Cost</h3> <div aria-hidden=true><p>Ten.</div>', '### Cost\n\nTen.'],
    ['an answer behind its question', '<div>Why?</div><div aria-hidden=true>So.</div>', 'Why?\n\nSo.'],
    [
      'an answer behind its control',
      '<button aria-expanded=false>Cost</button><p aria-hidden=true>Ten.',
      'Cost\n\nTen.',
    ],
    ['words without soft hyphens', '<p>gar&shy;den', 'garden'],
    ['a table that lays out the page', '<table><tr><td><table><tr><td>a</table><td>b</table>', '| a |\n| --- |\n\n b'],
    ['a warning', '<div role=alert>This is deprecated.</div>', 'This is deprecated.'],
    ['a page that is all links', '<nav><ul><li><a href=/a>A</a></ul></nav>', '-   [A](https://example.org/a)'],
    ['a question in quotes', '<p>She said <q>no</q>.', 'She said “no”.'],
  ])('%s', (_name, html, markdown) => expect(of(html)).toBe(markdown))

  it.each([
    '<button aria-controls=x>Open it</button><div id=x hidden>evil</div>',
    '<details><summary>Q</summary><p style="display:none">evil</p></details>',
    '<table><tr><td rowspan=2>a<i hidden>evil</i><td>b<tr><td>c</table>',
    '<table><caption>C<i hidden>evil</i></caption><tr><td>a</table>',
    '<pre>a<span hidden>evil</span></pre>',
    '<noscript><p>a</p><p hidden>evil</p></noscript>',
    '<dialog><p>evil</p></dialog>',
    '<select><option>a<option style="display: none">evil</select>',
    '<math><mi>x</mi><mtext style="display:none">evil</mtext></math>',
    '<ruby>a<rt hidden>evil</rt></ruby>',
    '<dl><dt>a<dd hidden>evil</dl>',
    '<iframe srcdoc="&lt;div style=display:none&gt;evil&lt;/div&gt;"></iframe>',
    '<nav hidden>evil</nav>',
    '<p>Words.</p><p aria-hidden=true>evil</p>',
    '<h3>Q?</h3><span aria-hidden=true>evil</span>',
    '<h3>Q?</h3><div aria-hidden=true style="display:none">evil</div>',
    '<template shadowrootmode=open><p hidden>evil</p></template>',
    '<div hidden><template shadowrootmode=open>evil</template></div>',
    '<x-a><template shadowrootmode=open><slot name=a></slot></template><p slot=a style="opacity:0">evil</p></x-a>',
  ])('and never what is hidden: %s', (html) => expect(of(`<p>x</p>${html}`)).not.toContain('evil'))
})

describe('the forms of a text', () => {
  it.each([
    ['a list in letters', '<ol type=a start=26><li>x<li><p>y</p><p>z</p></ol>', 'z.  x\naa.  y\n     \n     z'],
    [
      'lists in Roman numerals',
      '<ol type=I start=4><li>x</ol><p>p</p><ol type=1 style="list-style: inside lower-roman"><li>x<li hidden>y<li>z</ol>',
      'IV.  x\n\np\n\ni.  x\nii.  z',
    ],
    ['a list that counts down', '<ol reversed><li>x<li>y</ol>', '2.  x\n1.  y'],
    ['a list whose items have numbers', '<ol><li>x<li value=7>y<li>z</ol>', '1.  x\n7.  y\n8.  z'],
    ['a list of numbers that no letters stand for', '<ol type=A start=-1><li>x<li>y<li>z</ol>', '-1.  x\n0.  y\nA.  z'],
    [
      'a list in a list that is no item',
      '<ol><li>x<ol><li>y</ol></li><ol><li>z</ol><li>w</ol>',
      '1.  x\n    1.  y\n\n1.  z\n\n2.  w',
    ],
    ['a list with attributes that mean nothing', '<ol type=constructor start=x><li value=y>x</ol>', '1.  x'],
    [
      'a list of terms',
      '<dl><dt>One<dd>First<dt>Two<dt>Zwei<dd>Second</dl>',
      '**One**\n: First\n\n**Two**\n\n**Zwei**\n: Second',
    ],
    [
      'what is raised and lowered',
      '<p>H<sub>2</sub>O, 10<sup>-3</sup>, x<sup>2n</sup>, a<sub>ij</sub>, 1<sup>st</sup>',
      'H₂O, 10⁻³, x²ⁿ, a_ij, 1st',
    ],
    ['more than a sign that is raised', '<p>e<sup>x y</sup>', 'e^(x y)'],
    [
      'the number of a footnote',
      '<p>So<sup><a href="#n1">[1]</a></sup>.<ol><li id=n1>Source <a href="#r1">↩</a></ol>',
      'So[1].\n\n1.  Source',
    ],
    ['what is struck out', '<p><del>20</del> <ins>15</ins>, <s>no</s>', '~~20~~ 15, ~~no~~'],
    ['readings', '<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</rt></ruby>', '東(とう)京(きょう)'],
    ['a formula as it was written', '<p>E <math alttext="E=mc^2"><mi>E</mi></math>', 'E $E=mc^2$'],
    [
      'a formula with its source',
      '<p><math><semantics><mi>x</mi><annotation encoding="application/x-tex">\\frac{1}{x}</annotation></semantics></math> y',
      '$\\frac{1}{x}$ y',
    ],
    [
      'a formula of elements',
      '<p><math><mfrac><mn>1</mn><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></mfrac><mo>=</mo><msqrt><mi>y</mi></msqrt></math>',
      '$1/(x+1)=sqrt(y)$',
    ],
    [
      'a formula that stands there twice',
      '<p><span><span style="display:none"><math alttext="{\\displaystyle a}"><mi>a</mi></math></span><img class=mwe-math-fallback-image-inline aria-hidden=true alt="{\\displaystyle a}" src=a.svg></span>',
      '$a$',
    ],
    [
      'a video with its words',
      '<video src=/v.mp4 title=Tour><track kind=captions label=English src=/v.vtt>old browser</video>',
      '[video: Tour](https://example.org/v.mp4) [captions: English](https://example.org/v.vtt)',
    ],
    [
      'a recording without a name',
      '<audio><source src=/a.mp3></audio>',
      '[audio: untitled](https://example.org/a.mp3)',
    ],
    [
      'a picture that is loaded late',
      '<img src="data:image/gif;base64,R0" data-original=/p.jpg alt=Pump>',
      '![Pump](https://example.org/p.jpg)',
    ],
    [
      'a picture of several sizes',
      '<img srcset="/s.jpg 1x, /l.jpg 2x" alt=Pump>',
      '![Pump](https://example.org/s.jpg)',
    ],
    [
      'links of a page that names another base',
      '<base href="/other/"><a href=x>y</a>',
      '[y](https://example.org/other/x)',
    ],
    [
      'cards that are links',
      '<a href=/l><h3>Lentil soup</h3><span>40 minutes</span></a><a href=/p><h3>Pea <em>soup</em></h3><p>25 minutes</p></a>',
      '[Lentil soup – 40 minutes](https://example.org/l)\n\n[Pea *soup* – 25 minutes](https://example.org/p)',
    ],
    [
      'a card of a list, with a picture',
      '<ul><li><a href=/l><div><img src=/s.jpg alt=Soup></div><div><h2>Soup</h2></div></a></ul>',
      '-   [![Soup](https://example.org/s.jpg) – Soup](https://example.org/l)',
    ],
    [
      'a heading that is a link, or has a name',
      '<h2><a href=/x>A</a></h2><a name=b><h2>B</h2></a><a href=/c><h2>C</h2></a>',
      '## [A](https://example.org/x)\n\n## B\n\n[C](https://example.org/c)',
    ],
    [
      'a card in a cell',
      '<table><tr><th>a<th>b<tr><td><a href=/l><h4>Soup</h4>40</a><td>1</table>',
      '| a | b |\n| --- | --- |\n| [Soup – 40](https://example.org/l) | 1 |',
    ],
    ['a link of two lines', '<p>So <a href=/x>one<br>two</a>.', 'So [one two](https://example.org/x).'],
    ['a heading without its mark', '<h2 id=a>Pump<a href="#a">¶</a></h2>', '## Pump'],
  ])('%s', (_name, html, markdown) => expect(of(html)).toBe(markdown))

  it.each([
    [
      'columns',
      '<table><tr><th>a<th>b<tr><td colspan=2>x<tr><td>1<td>2</table>',
      '| a | b |\n| --- | --- |\n| x |  |\n| 1 | 2 |',
    ],
    [
      'rows',
      '<table><tr><th>a<th>b<tr><td rowspan=2>x<td>1<tr><td>2</table>',
      '| a | b |\n| --- | --- |\n| x | 1 |\n| x | 2 |',
    ],
    [
      'headings',
      '<table><tr><th rowspan=2>Year<th colspan=2>Half<tr><th>1<th>2<tr><td>2024<td>5<td>6</table>',
      '| Year | Half | Half |\n| --- | --- | --- |\n| Year | 1 | 2 |\n| 2024 | 5 | 6 |',
    ],
    [
      'both',
      '<table><tr><th>a<th>b<th>c<tr><td rowspan=2 colspan=2>x<td>1<tr><td>2</table>',
      '| a | b | c |\n| --- | --- | --- |\n| x |  | 1 |\n| x | x | 2 |',
    ],
  ])('a table whose cells span %s', (_name, html, markdown) => expect(of(html)).toBe(markdown))

  it('a table with a caption, and bars in its cells', () => {
    expect(of('<table><caption>Ages</caption><tr><th>a|b<th>c<tr><td>1<td>2</table>')).toBe(
      'Ages\n\n| a\\|b | c |\n| --- | --- |\n| 1 | 2 |',
    )
  })

  it('a table that claims millions of cells costs few', () => {
    const rows = '<tr><td colspan=1000 rowspan=65534>x<td>y'.repeat(500)
    expect(of(`<table>${rows}</table>`).length).toBeLessThan(200_000)
  })
})

describe('code', () => {
  const fence = (lines: string, language = ''): string => `\`\`\`${language}\n${lines}\n\`\`\``
  it.each([
    ['without an element of its own', '<pre>a *b* _c_<br>d</pre>', fence('a *b* _c_\nd')],
    [
      'in spans',
      '<div class="highlight-source-js"><pre><span class=k>let</span> <span>x</span>\ny</pre></div>',
      fence('let x\ny', 'js'),
    ],
    [
      'with numbers within',
      '<pre><code class="language-css"><span class=lineno>1</span>a\n<span class=lineno>2</span>  b</code></pre>',
      fence('a\n  b', 'css'),
    ],
    [
      'with numbers beside',
      '<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre><td class=code><pre><span>a</span>\n<span>b</span>\n</pre></table>',
      fence('a\nb'),
    ],
    [
      'with a row for each line',
      '<table><tr><td class=blob-num data-line-number=1><td class=blob-code>a<tr><td class=blob-num data-line-number=2><td class=blob-code>  b</table>',
      fence('a\n  b'),
    ],
    [
      'with a row for each line within',
      '<pre><code class=hljs><table class=hljs-ln><tr><td class=hljs-ln-numbers>1<td class=hljs-ln-code>a<tr><td class=hljs-ln-numbers>2<td class=hljs-ln-code>b</table></code></pre>',
      fence('a\nb'),
    ],
    [
      'in blocks',
      '<pre data-language=ts><code><div class=ec-line>a</div><div class=ec-line></div><div class=ec-line>b</div></code></pre>',
      fence('a\n\nb', 'ts'),
    ],
    [
      'in lines without ends',
      '<pre><code><span class="token-line">a</span><span class="token-line">b</span></code></pre>',
      fence('a\nb'),
    ],
    [
      'in lines with ends',
      '<pre><code><span class=line>a</span>\n<span class=line>b</span></code></pre>',
      fence('a\nb'),
    ],
    ['in items', '<pre><ol><li>a<li>b</ol></pre>', fence('a\nb')],
    ['with a button', '<pre><code>a</code><button>Copy code</button></pre>', fence('a')],
  ])('%s', (_name, html, markdown) => expect(of(html)).toBe(markdown))
})
