import { describe, expect, it } from 'vitest'
import { htmlToMarkdown } from '../../src/web/html-to-markdown.ts'
import { parseRefresh } from '../../src/web/page-facts.ts'

const BASE = 'https://example.org/dir/page'
const of = (html: string) => htmlToMarkdown(html, BASE)
const words = (count: number): string => 'Some words of a page. '.repeat(count)

describe('a page that cannot be read', () => {
  const SCRIPTS = /made by scripts/
  const ROBOTS = /check against robots/
  const LOGIN = /page to log in/
  const CONSENT = /consent to cookies/
  it.each([
    ['an empty shell', '<div id="root"></div><script src=/main.js></script>', SCRIPTS],
    ['a shell of another kind', '<app-root></app-root><script type=module src=/main.js></script>', SCRIPTS],
    ['a shell that loads', '<div id=__next><p>Loading…</p></div><script>go()</script>', SCRIPTS],
    [
      'a shell with data for a script',
      '<div id=__nuxt></div><script>x</script><script id=__NEXT_DATA__ type="application/json">{"a":1}</script>',
      SCRIPTS,
    ],
    [
      'a sentence for those without scripts',
      '<noscript>You need to enable JavaScript to run this app.</noscript><div id=q-app></div><script src=a.js></script>',
      SCRIPTS,
    ],
    ['the same in German', '<p>Bitte aktivieren Sie JavaScript in Ihrem Browser.</p>', SCRIPTS],
    [
      'a challenge',
      '<title>Just a moment...</title><h1>example.org</h1><script>window._cf_chl_opt={}</script>',
      ROBOTS,
    ],
    [
      'a challenge without its title',
      '<p>example.org</p><script src="/cdn-cgi/challenge-platform/h/b/x.js"></script>',
      ROBOTS,
    ],
    [
      'a captcha',
      '<title>example.org</title><p>Please enable JS</p><script src="https://geo.captcha-delivery.com/captcha/"></script>',
      ROBOTS,
    ],
    ['traffic that is too much', '<p>Our systems have detected unusual traffic from your computer network.', ROBOTS],
    ['a login', '<title>Sign in</title><form><input name=user><input type=password></form>', LOGIN],
    ['a login in French', '<title>Connexion – Exemple</title><form>Mot de passe <input type=password></form>', LOGIN],
    [
      'a wall of cookies',
      '<title>Before you continue</title><p>We use cookies.</p><button>Accept all</button>',
      CONSENT,
    ],
    [
      'a wall of cookies in German',
      '<p>Wir verwenden Cookies. Mit einem Klick auf „Alle akzeptieren“ stimmen Sie zu.',
      CONSENT,
    ],
    [
      'a script that leads on',
      '<script>window.location.href="/next"</script>',
      /leads on from this page, to https:\/\/example\.org\/next:/,
    ],
    [
      'another one',
      `<p>Redirecting</p><script>setTimeout(() => location.replace('https:\\/\\/o.org\\/'), 9)</script>`,
      /to https:\/\/o\.org\/:/,
    ],
    [
      'text that a script shows later',
      `<div hidden id="S:0">${words(80)}</div><p>${words(3)}</p>`,
      /hidden until a script shows them/,
    ],
    [
      'a short part that a script fades in',
      '<title>Acme</title><main style="opacity:0;transform:translateY(20px)"><h1>We build pumps</h1></main><script src=a.js></script>',
      /hidden until a script shows them/,
    ],
    [
      'a part that a script makes visible, below a heading',
      `<h1>Acme</h1><div style="visibility: hidden"><p>${words(3)}</div><script src=a.js></script>`,
      /hidden until a script shows them/,
    ],
    [
      'a page behind a dialog',
      `<div id=root aria-hidden=true><p>${words(3)}</div>`,
      /hidden until a script shows them/,
    ],
    [
      'a large part that a script fades in, among other words',
      `<p>${words(100)}</p><section style="opacity: 0"><h2>Prices</h2>${words(90)}</section>`,
      /large part of this page is hidden/,
    ],
    ['nothing but frames', '<iframe src=/a></iframe>', /nothing but frames/],
  ])('says why: %s', (_name, html, reason) => expect(of(html).missing).toMatch(reason))

  it.each([
    ['a short page', '<p>Closed today.</p><script src=/count.js></script>'],
    ['an article about scripts', `<h1>How to enable JavaScript</h1><p>${words(40)}</p><script src=a.js></script>`],
    ['an article about cookies', `<title>Cookies</title><p>${words(80)} Accept all cookies.`],
    ['an article with a banner', `<div>We use cookies <button>Accept all</button></div><p>${words(80)}`],
    ['an article with a field for a password', `<p>${words(40)}</p><form><input type=password></form>`],
    [
      'an article with a captcha at its form',
      `<p>${words(40)}</p><script src="https://www.google.com/recaptcha/api.js"></script>`,
    ],
    [
      'a script that leads on when a button is pressed',
      `<p>${words(40)}</p><script>b.onclick=()=>{location.href="/x"}</script>`,
    ],
    ['a little that is hidden', `<div hidden>${words(3)}</div><p>${words(3)}`],
    ['a menu that is hidden', `<div hidden>${words(20)}</div><p>${words(100)}`],
    ['an empty page', ''],
  ])('says nothing of %s', (_name, html) => expect(of(html).missing).toBeUndefined())

  it('shows the text that it carries for search engines', () => {
    const data = JSON.stringify({ '@type': 'Article', articleBody: `"Quoted" \\ é &amp; ${words(20)}` })
    const { markdown, missing } = of(
      `<script type="application/ld+json">${data}</script><div id=app></div><script>x</script>`,
    )
    expect(markdown).toMatch(/^"Quoted" \\ é & Some words/)
    expect(missing).toContain('search engines')
    expect(of(`<script type="application/ld+json">${data}</script><p>${words(20)}`).markdown).not.toContain('Quoted')
  })

  it('is its description where it has no text', () => {
    const head = '<meta name=description content="A shop for pumps &amp; pipes">'
    expect(of(`${head}<div id=app></div><script>x</script>`).markdown).toBe('A shop for pumps & pipes')
    expect(of(`${head}<p>Words`).markdown).toBe('Words')
  })
})

describe('the title of a page', () => {
  it.each([
    ['<title>T</title><meta property="og:title" content=O><h1>H</h1>', 'T'],
    ['<title> </title><meta property="og:title" content="O &amp; P"><h1>H</h1>', 'O & P'],
    ['<h1>H <i hidden>evil</i><b>b</b></h1>', 'H b'],
    ['<svg><title>no</title></svg><title>T</title>', 'T'],
    ['<head><noscript><img src=x></noscript><title>T</title></head>', 'T'],
    ['<p>x', undefined],
  ])('of %s', (html, title) => expect(of(html).title).toBe(title))
})

describe('the address to which a page leads on', () => {
  it.each([
    ['0; url=/a', '/a', 0],
    ['0;URL=/a', '/a', 0],
    ['0,url=/a', '/a', 0],
    ['0 url=/a', '/a', 0],
    ['5;/a', '/a', 5],
    ['  3 ;  Url  =  /a ', '/a', 3],
    [`0;url='/a b'`, '/a%20b', 0],
    ['0; url="/a" x', '/a', 0],
    [`0; url='/a`, '/a', 0],
    ['.5; url=/a', '/a', 0],
    ['1.9; url=/a', '/a', 1],
    ['; url=/a', '/a', 0],
  ])('in %s', (value, path, seconds) =>
    expect(parseRefresh(value, BASE)).toEqual({ seconds, url: `https://example.org${path}` }),
  )

  it.each([
    '300',
    '',
    '0',
    '0;',
    '0; url=',
    'x; url=/a',
    '0url=/a',
    '0; url=javascript:alert(1)',
    '0; url=app://open',
    '0; url=http://[',
  ])('is not in %s', (value) => expect(parseRefresh(value, BASE)).toBeUndefined())

  it.each([
    '<meta http-equiv=refresh content="0; url=/a">',
    '<META HTTP-EQUIV=" Refresh " CONTENT="0; URL=/a"></META>',
    '<base href="/"><body><meta http-equiv=refresh content="0; url=a">',
    '<noscript><meta http-equiv=refresh content="0; url=/a"></noscript>',
  ])('is read in %s', (html) => expect(of(html).refresh).toEqual({ seconds: 0, url: 'https://example.org/a' }))

  it.each([
    '<!-- <meta http-equiv=refresh content="0; url=/a"> -->',
    '<template><meta http-equiv=refresh content="0; url=/a"></template>',
    `<script>document.write('<meta http-equiv=refresh content="0; url=/a">')</script>`,
    `<noscript><meta http-equiv=refresh content="0; url=/a"></noscript><p>${words(40)}`,
  ])('is not what stands in %s', (html) => expect(of(html).refresh).toBeUndefined())
})
