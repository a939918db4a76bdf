import { describe, expect, it } from 'vitest'
import { webFetch } from '../../../src/agent/tools/web-fetch.ts'
import { webSearch } from '../../../src/agent/tools/web-search.ts'
import { ParleyError } from '../../../src/core/errors.ts'
import type { ToolContext } from '../../../src/core/turn.ts'
import type { WebPage, WebQuery } from '../../../src/core/web.ts'
import { toolContext } from '../turns.ts'

const url = 'https://e.org/a'

/** The tool on a web that is one page. */
function fetching(page: Partial<WebPage> & Pick<WebPage, 'kind'>, known = false) {
  return webFetch({
    access: {
      read(address) {
        if (address.includes('localhost')) throw new ParleyError('forbidden', 'localhost is not on the public net.')
        return new URL(address)
      },
      fetch: async (address) => ({ url: address, ...page }) as WebPage,
    },
    known: { isKnown: async () => known },
    allowedHosts: ['docs.example.org'],
  })
}

const text = (words: string, more: object = {}) => ({ kind: 'text', type: 'text/plain', text: words, ...more }) as const

async function reach(tool: ReturnType<typeof webFetch>, args: object): Promise<unknown> {
  return typeof tool.reach === 'function' ? tool.reach(args, toolContext(0)) : tool.reach
}

describe('web_fetch', () => {
  it('reads foreign words, where a person has named the address, the configuration its host, or a person allows it', async () => {
    expect(fetching(text('x'))).toMatchObject({ class: 'pure', foreign: true, doing: 'reading a web page' })
    expect(await reach(fetching(text('x'), true), { url })).toBe('inside')
    expect(await reach(fetching(text('x')), { url: ' https://docs.example.org/x ' })).toBe('inside')
    expect(await reach(fetching(text('x')), { url })).toBe('beyond')
    expect(await reach(fetching(text('x')), { url: 'https://docs.example.org.evil.net/' })).toBe('beyond')
  })

  it('asks nobody about what can never be fetched', async () => {
    await expect(reach(fetching(text('x'), true), { url: 'http://localhost/' })).rejects.toThrow(
      'not on the public net',
    )
    await expect(reach(fetching(text('x'), true), { url: 7 })).rejects.toThrow('url must be a text')
  })

  it.each([
    [text('words', { title: 'T' }), {}, `Address: ${url}\nTitle: T\nType: text/plain\n\nwords`],
    [text(' \n'), {}, `Address: ${url}\nType: text/plain\n\n[There is no text.]`],
    [text('x'.repeat(600)), { maxCharacters: 1 }, /\n\nx{500}\n\[cut: 100 more characters; ask for more/],
    [text('x'.repeat(31_000)), {}, /x{30000}\n\[cut: 1000 more/],
    [text('x'.repeat(300_000)), { maxCharacters: '1e9' }, /\n\nx{200000}\n\[cut: 100000 more/],
    [text(`${'x'.repeat(499)}😀😀`), { maxCharacters: 500 }, /x{499}\n\[cut: 4 more/],
    [text('x', { plain: true, cut: true }), {}, /without form\.\nNote: the page is longer than is read/],
    [
      { kind: 'redirect', to: 'https://f.org/' } as const,
      {},
      /redirects to another site, https:\/\/f\.org\/\. It was not/,
    ],
    [
      { kind: 'file', type: 'application/pdf', size: 9 } as const,
      {},
      /of the type application\/pdf with 9 bytes, which/,
    ],
    [{ kind: 'file', type: 'x/y', size: 9, cut: true } as const, {}, /with more than 9 bytes/],
    [{ kind: 'file', type: 'x/y', size: 9, unread: 'it moves' } as const, {}, /which cannot be read here: it moves\.$/],
    [text('x', { notes: ['One.', 'Two.'] }), {}, /Type: text\/plain\nNote: One\.\nNote: Two\.\n\nx$/],
  ])('answers %o', async (page, more, expected) => {
    const answer = await fetching(page).run({ url, ...more }, toolContext(0))
    if (typeof expected === 'string') expect(answer).toBe(expected)
    else expect(answer).toMatch(expected)
  })

  it('keeps an image for the model', async () => {
    const kept = { type: 'image', media: 'm', mime: 'image/png', size: 1 } as never
    const context: ToolContext = { ...toolContext(0), keep: async () => kept }
    const answer = await fetching({ kind: 'image', bytes: new Uint8Array(1) }).run({ url }, context)
    expect(answer).toEqual({ content: [{ type: 'text', text: `An image from ${url}:` }, kept] })
  })
})

describe('web_search', () => {
  it('asks the service of the configuration, within its bounds', async () => {
    const asked: WebQuery[] = []
    const tool = webSearch(async (query) => {
      asked.push(query)
      return [{ url, title: 'T', text: 'w' }]
    })
    expect(tool).toMatchObject({ class: 'pure', reach: 'inside', foreign: true, doing: 'searching the web' })
    expect(await tool.run({ query: ' gardens ' }, toolContext(0))).toBe(
      JSON.stringify({ results: [{ url, title: 'T', text: 'w' }] }),
    )
    await tool.run({ query: 'x'.repeat(2_000), count: 99 }, toolContext(0))
    await tool.run({ query: 'x', count: -1 }, toolContext(0))
    expect(asked.map(({ query, count }) => [query.length, count])).toEqual([
      [7, 5],
      [1_000, 20],
      [1, 1],
    ])
    expect(await webSearch(async () => []).run({ query: 'x' }, toolContext(0))).toBe(
      'Nothing was found for these words.',
    )
    await expect(tool.run({ query: ' ' }, toolContext(0))).rejects.toThrow('query must be a text that is not empty')
  })
})
