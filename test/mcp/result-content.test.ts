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

describe('C25: the bytes of a file in the text of a result', () => {
  const png = `iVBORw0KGgo${'A'.repeat(2_000)}1`
  const pdf = `JVBERi0${'B'.repeat(1_993)}`
  const jpeg = `/9j/${'a/b'.repeat(1_000)}`
  const text = (words: string) => ({ content: [{ type: 'text', text: words }] })

  it.each([
    [
      'an address in Markdown',
      `Done: ![shot](data:image/png;base64,${png}) ok`,
      ['Done: ![shot](data:image/png;base64,[file 1, see below]) ok', 'file 1509'],
    ],
    ['the whole text', `${pdf}==`, ['[file 1, see below]', 'file 1500']],
    ['the whole text in lines', `${pdf.slice(0, 1_000)}\n${pdf.slice(1_000)}\n`, ['[file 1, see below]', 'file 1500']],
    [
      'a field of JSON',
      JSON.stringify({ mimeType: 'application/pdf', data: pdf, size: 9 }),
      ['{"mimeType":"application/pdf","data":"[file 1, see below]","size":9}', 'file 1500'],
    ],
    [
      'a field with its slashes escaped',
      `{"photo":"${jpeg.replaceAll('/', '\\/')}"}`,
      ['{"photo":"[file 1, see below]"}', 'file 2253'],
    ],
    [
      'a field with signs as numbers',
      `{"photo":"${`${png}+/`.replaceAll('+', '\\u002B')}"}`,
      ['{"photo":"[file 1, see below]"}', 'file 1510'],
    ],
    [
      'behind words',
      `Type: application/pdf\nBase64: ${pdf}\nThat is all.`,
      ['Type: application/pdf\nBase64: [file 1, see below]\nThat is all.', 'file 1500'],
    ],
    [
      'two of them',
      `"${pdf}" and "${png}"`,
      ['"[file 1, see below]" and "[file 2, see below]"', 'file 1500', 'file 1509'],
    ],
    [
      'an unknown kind by its address',
      `data:application/x-thing;base64,${'C'.repeat(1_200)}`,
      ['data:application/x-thing;base64,[file 1, see below]', 'file 900'],
    ],
  ])('is kept as a file: %s', async (_name, words, expected) => {
    expect(await read(text(words))).toEqual(expected)
  })

  it.each([
    [
      'a small picture of a page',
      `<img src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">`,
    ],
    ['a long word of no kind', 'x'.repeat(5_000)],
    ['a key', `ssh-rsa AAAAB3NzaC1yc2E${'D'.repeat(700)}`],
    ['a token', `eyJhbGciOi${'E'.repeat(3_000)}.eyJ${'F'.repeat(3_000)}`],
    ['a file within a longer word', `see_${png}`],
    ['colours of a terminal', `\u001b[31m${'red '.repeat(600)}\u001b[0m`],
  ])('stays a text where it is none for sure: %s', async (_name, words) => {
    expect(await read(text(words))).toEqual([words])
  })

  it('is left out where a server has read it as text', async () => {
    const words = Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(600, '\x00\xff\x81\x02', 'latin1')]).toString(
      'utf8',
    )
    expect(await read(text(words))).toEqual(['[609 characters of a file that is no text were left out]'])
  })

  it('is kept of values beside the texts, and once where a text says the same', async () => {
    const structuredContent = { shot: pdf }
    expect(await read({ content: [], structuredContent })).toEqual(['{"shot":"[file 1, see below]"}', 'file 1500'])
    const same = { ...text(JSON.stringify(structuredContent)), structuredContent }
    expect(await read(same)).toEqual(['{"shot":"[file 1, see below]"}', 'file 1500'])
  })

  it('is kept of ten files of a text, and the others are named', async () => {
    const lines = await read(text(Array.from({ length: 12 }, () => `"${pdf}"`).join()))
    expect(lines).toHaveLength(11)
    expect(lines[0]?.match(/one more file was left out/g)).toHaveLength(2)
  })
})
