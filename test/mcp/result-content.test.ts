import { describe, expect, it } from 'vitest'
import { mediaId } from '../../src/core/ids.ts'
import { resultContent } from '../../src/mcp/result-content.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk'

/** Returns a result as lines: texts, and files with their size and name. */
async function read(result: unknown): Promise<string[]> {
  const keep = async (bytes: Buffer, name?: string) => {
    const media = mediaId('0'.repeat(64))
    return {
      type: 'file' as const,
      media,
      mime: 'application/octet-stream',
      name: `${bytes.length} ${name ?? ''}`.trim(),
    }
  }
  const content = await resultContent(result, keep as never)
  return content.map((part) => (part.type === 'text' ? part.text : `file ${'name' in part ? part.name : ''}`))
}

const values = { accounts: [{ id: 1 }] }

describe('the result of a tool of somebody else', () => {
  it.each([
    ['values alone', { content: [], structuredContent: values }, ['{"accounts":[{"id":1}]}']],
    [
      'values beside words',
      { content: [{ type: 'text', text: 'One.' }], structuredContent: values },
      ['One.', '{"accounts":[{"id":1}]}'],
    ],
    [
      'the same values as a text',
      { content: [{ type: 'text', text: '{ "accounts": [{ "id": 1 }] }' }], structuredContent: values },
      ['{ "accounts": [{ "id": 1 }] }'],
    ],
    ['empty values', { content: [{ type: 'text', text: 'ok' }], structuredContent: {} }, ['ok']],
    ['the oldest form', { toolResult: { content: [{ type: 'text', text: 'ok' }] } }, ['ok']],
    ['the oldest form with a text', { toolResult: 'ok' }, ['ok']],
    ['the oldest form with values', { toolResult: { a: 1 } }, ['{"a":1}']],
    ['a text in place of the list', { content: 'ok' }, ['ok']],
    ['one part in place of the list', { content: { type: 'text', text: 'ok' } }, ['ok']],
    [
      'empty fields',
      { content: [{ type: 'text', text: 'ok', annotations: null, _meta: null }], isError: null },
      ['ok'],
    ],
    [
      'empty texts',
      {
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'ok' },
        ],
      },
      ['ok'],
    ],
    ['other fields alone', { success: false, error: 'no login' }, ['{"success":false,"error":"no login"}']],
    ['other fields beside words', { content: [{ type: 'text', text: 'ok' }], took: 3 }, ['ok']],
    ['marks alone', { _meta: {}, isError: true }, ['Done; the server says nothing more.']],
    ['nothing', { content: [] }, ['Done; the server says nothing more.']],
    ['nothing at all', null, ['Done; the server says nothing more.']],
  ])('with %s is all that it says, once', async (_how, result, lines) => {
    expect(await read(result)).toEqual(lines)
  })

  it.each<[unknown, string]>([
    ['a bare text', 'a bare text'],
    [{ text: 'no type' }, 'no type'],
    [{ type: 'Text', text: 'upper' }, 'upper'],
    [{ type: 'markdown', text: '# head' }, '# head'],
    [{ type: 'text', text: 42 }, '{"type":"text","text":42}'],
    [{ type: 'json', json: { a: 1 } }, '{"type":"json","json":{"a":1}}'],
    [{ type: 'json', data: { a: 1 } }, '{"type":"json","data":{"a":1}}'],
    [{ type: 'image', url: 'https://example.com/x.png' }, '{"type":"image","url":"https://example.com/x.png"}'],
    [{ type: 'text', data: 'onlyLettersAndNumbers123' }, '{"type":"text","data":"onlyLettersAndNumbers123"}'],
    [{ type: 'resource', resource: { uri: 'file:///a' } }, '{"type":"resource","resource":{"uri":"file:///a"}}'],
    [{ type: 'image', data: 'https://img.example/a.png' }, '{"type":"image","data":"https://img.example/a.png"}'],
    [null, 'null'],
    [{ type: 'image', data: PNG }, 'file 45'],
    [{ type: 'image', data: `data:image/png;base64,${PNG}` }, 'file 45'],
    [{ type: 'image', source: { data: PNG, media_type: 'image/png' } }, 'file 45'],
    [{ type: 'file', name: 'report.pdf', data: PNG }, 'file 45 report.pdf'],
    [{ type: 'video', data: PNG, mimeType: 'video/mp4' }, 'file 45'],
    [{ type: 'resource', resource: { uri: 'file:///a/b.bin', blob: PNG } }, 'file 45 b.bin'],
  ])('has no part that vanishes: %j', async (part, line) => {
    expect(await read({ content: [part] })).toEqual([line])
  })

  it('is bounded', async () => {
    const [line = ''] = await read({ content: [{ type: 'json', json: 'x'.repeat(9_000) }] })
    expect(line).toHaveLength(4_004)
    expect(await read({ content: Array.from({ length: 60 }, () => 'a') })).toHaveLength(51)
  })
})
