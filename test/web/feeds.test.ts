import { describe, expect, it } from 'vitest'
import { feedToMarkdown, isFeed } from '../../src/web/read-feed.ts'
import { cost } from '../fakes/cost.ts'

const BASE = 'https://example.org/feed'
const of = (text: string) => feedToMarkdown(text, BASE)

describe('a feed', () => {
  it('of RSS is the list of its entries', () => {
    const feed = `<?xml version="1.0"?><rss version="2.0" xmlns:dc="x"><channel><title>Pumps &amp; pipes</title>
      <link>https://example.org/</link><description>All about them</description>
      <item><title><![CDATA[A <b>new</b> pump]]></title><link>/a(1)</link><pubDate>Sat, 28 Nov 2026 09:30:00 +0100</pubDate>
      <dc:creator>Ada</dc:creator><description>&lt;p&gt;It is &lt;i&gt;fast&lt;/i&gt; &amp;amp; quiet.&lt;/p&gt;</description></item>
      <item><guid>https://example.org/b</guid><description>No title here</description></item>
      <item><title>T</title><guid isPermaLink="false">17</guid></item></channel></rss>`
    expect(of(feed)).toEqual({
      title: 'Pumps & pipes',
      markdown: [
        'All about them',
        '- [A new pump](https://example.org/a%281%29) (2026-11-28 08:30 UTC, Ada)\n  It is fast & quiet.',
        '- [No title here …](https://example.org/b)\n  No title here',
        '- T',
      ].join('\n\n'),
    })
  })

  it('of Atom has the address of each entry, not those around it', () => {
    const feed = `<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">F</title><link rel="self" href="/self"/>
      <entry><title>E</title><link rel="edit" href="/edit"/><link href="/e"/><link rel="enclosure" href="/f.mp3"/>
      <author><name>Ada</name><uri>https://ada.example.org</uri></author>
      <updated>2026-11-29T00:00:00Z</updated><published>2026-11-27T12:00:00Z</published>
      <content type="xhtml"><div xmlns="x"><p>Some <b>words</b></p></div></content></entry></feed>`
    expect(of(feed)).toEqual({
      title: 'F',
      markdown: '- [E](https://example.org/e) (2026-11-27 12:00 UTC, Ada)\n  Some words',
    })
  })

  it('of RSS 1.0 has its entries beside the channel', () => {
    const feed = `<rdf:RDF xmlns:rdf="x"><channel><title>F</title></channel><item rdf:about="x"><title>E</title>
      <link>https://example.org/e</link><dc:date>2026-11-29</dc:date></item></rdf:RDF>`
    expect(of(feed).markdown).toBe('- [E](https://example.org/e) (2026-11-29)')
  })

  it('of JSON is the same', () => {
    const items = [
      { id: '1', url: 'https://example.org/a', title: 'A', content_html: '<p>Words', authors: [{ name: 'Ada' }] },
      { id: 'https://example.org/b', content_text: 'Only words', date_published: '2026-11-29T10:00:00Z' },
      7,
      null,
    ]
    const feed = JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', title: 'F', items })
    expect(of(feed)).toEqual({
      title: 'F',
      markdown: [
        '- [A](https://example.org/a) (Ada)\n  Words',
        '- [Only words …](https://example.org/b) (2026-11-29 10:00 UTC)\n  Only words',
        '- untitled',
        '- untitled',
      ].join('\n\n'),
    })
  })

  it('without entries says so, and one with many names the rest', () => {
    expect(of('<rss><channel><title>F</title></channel></rss>').markdown).toContain('no entries')
    expect(of(`<rss>${'<item><title>T</title></item>'.repeat(250)}</rss>`).markdown).toMatch(/and 50 more entries$/)
  })

  it('leaves a link out that is none of the web', () =>
    expect(of('<rss><item><title>T</title><link>javascript:alert(1)</link></item></rss>').markdown).toBe('- T'))

  it('is read in one pass, however it is torn', async () => {
    const torn = ['<rss><item><title>', '<![CDATA[', '<!--', '<a '].map((mark) => `<rss>${mark.repeat(100_000)}`)
    const microseconds = await cost(() => torn.map(of))
    expect(microseconds).toBeLessThan(5_000_000)
  })

  it.each([
    ['<rss version="2.0">', true],
    ['\ufeff <?xml version="1.0"?>\n<!-- x --><?xml-stylesheet href="a"?><feed xmlns="y">', true],
    ['<?xml version="1.0"?><rdf:RDF>', true],
    ['{"version": "https://jsonfeed.org/version/1", "items": []}', true],
    ['<?xml version="1.0"?><urlset>', false],
    ['<html><p>&lt;rss&gt;', false],
    ['{"version":"1"}', false],
    ['rss', false],
  ])('is known by its beginning: %s', (beginning, is) => expect(isFeed(beginning)).toBe(is))
})
