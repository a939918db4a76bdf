import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

const HTML = { 'content-type': 'text/html' }

function page(body: string | Buffer, headers: Readonly<Record<string, string>> = HTML, status = 200): RequestListener {
  return (_request, response) => response.writeHead(status, headers).end(body)
}

/** Pages as servers on the net send them, by their paths; each is a way in which one is hard to read. */
const SITES: Readonly<Record<string, RequestListener>> = {
  '/arrived': page('<title>Arrived</title><h1>Here it is</h1>'),
  '/refresh': page(`<META HTTP-EQUIV=Refresh CONTENT="0;URL='/arrived'">`),
  '/header': page('', { ...HTML, refresh: '0; url=/arrived' }),
  '/away': page('<meta http-equiv=refresh content="0; url=https://elsewhere.example.net/">'),
  '/inside': page('<meta http-equiv=refresh content="0; url=http://169.254.169.254/latest">'),
  '/cookie': askForCookie,
  '/shell': page(
    '<title>Shop</title><noscript>Please enable JavaScript.</noscript><div id="root"></div><script src=/a.js></script>',
  ),
  '/challenge': page(
    '<title>Just a moment...</title><script>window._cf_chl_opt={}</script>',
    { ...HTML, 'cf-mitigated': 'challenge' },
    403,
  ),
  '/login': page('<title>Log in</title><form><input name=user><input type=password></form>'),
  '/shift-jis': page(Buffer.from([...Buffer.from(`<meta charset='x-sjis'><p>`), 0x93, 0xfa, 0x96, 0x7b])),
  '/faq': page(
    '<h3><button aria-expanded=false>What does it cost?</button></h3><div><p>Ten.</p><p hidden>evil</p></div>',
  ),
  '/feed': page(
    '<rss><channel><title>News</title><item><title>A pump</title><link>/pump</link><pubDate>Sat, 28 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>',
    {
      'content-type': 'text/html',
    },
  ),
  '/busy': page('<h1>Too many visitors</h1>', { ...HTML, 'retry-after': '30' }, 429),
  '/nothing': page('', {}, 204),
}

/** The page is read with the cookie that it sets: who has none is sent to it again. */
function askForCookie(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.cookie?.includes('visited=1')) response.writeHead(200, HTML).end('<p>You have been here</p>')
  else response.writeHead(302, { location: '/cookie', 'set-cookie': 'visited=1; Path=/; HttpOnly' }).end()
}

/** Answers as a site that has these pages; false for any other path. */
export function answerAsSite(request: IncomingMessage, response: ServerResponse): boolean {
  const site = SITES[request.url ?? '']
  site?.(request, response)
  return site !== undefined
}
