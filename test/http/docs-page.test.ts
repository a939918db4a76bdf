import { createHash } from 'node:crypto'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { renderDocs } from '../../src/http/docs-page.ts'
import type { ApiDocument } from '../../src/http/document.ts'
import { removeTempFolders } from '../store/temp-database.ts'
import { DOCUMENT } from './conforms.ts'
import { apiRig } from './rig.ts'

removeTempFolders()

const HOSTILE = `</code><script>alert(1)</script><img src=x onerror=alert(1)>"'&{{x}}`

/** A document in which every text is hostile, also the names. */
function hostile(): ApiDocument {
  const text = JSON.stringify({
    ...{ openapi: '3.1.0', info: { title: 'X', version: 'X', description: 'X' } },
    paths: {
      X: {
        get: {
          ...{ operationId: 'X', summary: 'X', tags: ['X'], security: [{ token: ['X'] }] },
          parameters: [{ name: 'X', in: 'X', schema: { type: 'X' } }],
          requestBody: { content: { X: { schema: { properties: { X: { enum: ['X'], description: 'X' } } } } } },
          responses: { 200: { description: 'X', content: { X: { schema: { $ref: 'a/X' } } } } },
        },
      },
    },
    components: { schemas: { X: { anyOf: [{ const: 'X' }, { items: { type: 'X' } }] } }, responses: {} },
  })
  return JSON.parse(text.replaceAll('"X"', () => JSON.stringify(HOSTILE)))
}

/** The elements of the page, as a browser would see them: tags with their attributes. */
const tags = (page: string) =>
  [...page.matchAll(/<([a-z][a-z0-9]*)((?:\s[^>]*)?)>/g)].map(([, name, rest]) => [name, rest])

describe('the page of the document', () => {
  test('is served to everybody with a policy that allows its own style sheet and nothing else', async () => {
    const { ask } = await apiRig()
    const { status, text, headers } = await ask('/v1/docs')
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=UTF-8'])
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? ''
    const digest = createHash('sha256').update(style).digest('base64')
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-${digest}'`,
    )
    expect(headers['x-content-type-options']).toBe('nosniff')
    // Nothing that the policy would refuse: no script, no inline style, no handler, nothing fetched.
    expect(tags(text).filter(([, rest]) => /\s(style|on\w+|src|srcset)=/.test(`${rest}`))).toEqual([])
    const refused = ['script', 'img', 'iframe', 'object', 'form', 'base', 'link', 'video', 'audio', 'svg']
    expect(tags(text).filter(([name = '']) => refused.includes(name))).toEqual([])
    expect(text.match(/<style/g)).toHaveLength(1)
    expect(`${style}`).not.toMatch(/@import|url\(/)
  })

  test('is made once, however often somebody asks who brings no token', async () => {
    const { ask } = await apiRig()
    const first = await ask('/v1/docs')
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    expect((await ask('/v1/docs')).text).toBe(first.text)
    expect(parse.mock.calls.filter(([text]) => text.startsWith('{') && text.length > 10_000)).toEqual([])
  })

  test('names every operation, and every link in it leads somewhere', () => {
    const { text } = renderDocs(DOCUMENT)
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    const operations = Object.values(DOCUMENT.paths).flatMap((methods) => Object.values(methods))
    expect(ids).toEqual(expect.arrayContaining(operations.map(({ operationId }) => operationId)))
    expect(new Set(ids).size).toBe(ids.length)
    const links = [...text.matchAll(/ href="([^"]+)"/g)].map(([, href = '']) => href)
    expect(links.filter((href) => href !== 'openapi.json' && !ids.includes(href.slice(1)))).toEqual([])
    expect(text).not.toContain('[object Object]')
    // Code is shown as such.
    expect(text).toContain('<code>Authorization: Bearer &lt;token&gt;</code>')
    expect(text).not.toContain('`')
    expect(text).not.toContain('undefined')
  })

  test('shows hostile text as text, whatever it is the name of', () => {
    const { text, policy } = renderDocs(hostile())
    expect(policy).toBe(renderDocs(DOCUMENT).policy)
    const known = new Set(tags(renderDocs(DOCUMENT).text).map(([name]) => name))
    expect(tags(text).filter(([name]) => !known.has(name))).toEqual([])
    expect(text).not.toMatch(/<script|<img|onerror=alert\(1\)>/)
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  test('fits a narrow screen: nothing has a width, and long words break', () => {
    const { text } = renderDocs(DOCUMENT)
    expect(text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
    expect(text).toContain('overflow-wrap: anywhere')
    expect(text).not.toMatch(/<(pre|table|textarea)|[^-]width: ?\d+px|white-space: ?(pre|nowrap)/)
  })
})

describe('the document itself', () => {
  test('is answered to any valid token, and to nobody without one', async () => {
    const { ask, bearer } = await apiRig()
    const { headers } = await bearer(['metrics'])
    const { status, text } = await ask('/v1/openapi.json', { headers })
    expect([status, JSON.parse(text).paths]).toEqual([200, JSON.parse(JSON.stringify(DOCUMENT.paths))])
    expect((await ask('/v1/openapi.json')).status).toBe(401)
  })
})
