import { HonoRequest } from 'hono/request'
import { describe, expect, it } from 'vitest'
import { readChat } from '../../src/http/read-chat.ts'
import { DOT } from '../fakes/pictures.ts'

/** Returns who says what in a request with these messages, as agents are shown it. */
async function saidIn(messages: readonly object[]): Promise<readonly (readonly [string, string])[]> {
  const body = { object: async () => ({ model: 'main', messages }) }
  const { request } = await readChat(new HonoRequest(new Request('http://127.0.0.1/')), { body })
  return request.messages.map(({ role, text, files }) => [role, files.length === 0 ? text : `${text}+${files.length}`])
}

const user = (content: unknown, more = {}) => ({ role: 'user', content, ...more })
const assistant = (content: unknown, more = {}) => ({ role: 'assistant', content, ...more })
const call = (id: string, name: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const ASKED = user('and?')

/** What stands before the last question of a history that another model has begun. */
const historyOf = async (...messages: readonly object[]) => (await saidIn([...messages, ASKED])).slice(0, -1)

describe('the history of a client, begun with another model', () => {
  it('with tools, as the official clients and LangChain send it: each call is one line with its result', async () => {
    const calls = [call('c1', 'search', '{"q":"boats"}'), call('c2', 'clock', '{}')]
    expect(
      await historyOf(
        user('look'),
        assistant(null, { tool_calls: calls, refusal: null, audio: null }),
        { role: 'tool', tool_call_id: 'c1', name: 'search', content: '3 boats' },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'noon' }] },
        assistant('Three.'),
      ),
    ).toEqual([
      ['user', 'look'],
      ['assistant', '[called search {"q":"boats"}; it gave: 3 boats]\n[called clock {}; it gave: noon]'],
      ['assistant', 'Three.'],
    ])
  })

  it('with a picture beside the text of a result: it is named', async () => {
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const result = [{ type: 'text', text: 'a chart' }, picture, { type: 'thinking', thinking: 'hm' }]
    const [, said] = await historyOf(user('look'), assistant(null, { tool_calls: [call('c1', 'draw', '')] }), {
      role: 'tool',
      tool_call_id: 'c1',
      content: result,
    })
    expect(said?.[1]).toBe('[called draw; it gave: a chart\n(a part of the message, image_url, is not shown here)]')
  })

  it('where a call has no result, or a result no call', async () => {
    expect(
      await historyOf(
        user('look'),
        assistant('I look.', { tool_calls: [call('c1', 'search', { q: 1 })] }),
        { role: 'tool', tool_call_id: 'gone', content: 'found' },
        { role: 'function', name: 'sum', content: '4' },
        assistant(undefined, { function_call: { name: 'sum', arguments: '{"a":2}' } }),
        { role: 'tool', content: null },
      ),
    ).toEqual([
      ['user', 'look'],
      ['assistant', 'I look.\n[called search {"q":1}]'],
      ['assistant', '[called a tool; it gave: found]'],
      ['assistant', '[called sum; it gave: 4]'],
      ['assistant', '[called sum {"a":2}]'],
      ['assistant', '[called a tool; it gave: ]'],
    ])
  })

  it('whose calls and results are long: their beginnings are shown', async () => {
    const [, [, text] = ['', '']] = await historyOf(
      user('look'),
      assistant(null, { tool_calls: [call('c1', 'n'.repeat(9_000), 'a'.repeat(9_000))] }),
      { role: 'tool', tool_call_id: 'c1', content: '🙂'.repeat(9_000) },
    )
    expect(text.length).toBeLessThan(4_700)
    expect(text).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
  })

  it.each([
    ['no list', 'yes'],
    ['no calls', [null, 7, 'x', {}, { id: 'c', function: null }, { function: { name: 7, arguments: null } }]],
  ])('whose calls are %s is taken', async (_, tool_calls) => {
    const [, [role] = ['']] = await historyOf(user('look'), assistant('I look.', { tool_calls }))
    expect(role).toBe('assistant')
  })

  it('with an answer in sound, a refusal, thoughts, and a silence', async () => {
    expect(
      await historyOf(
        user('hi', { name: 'bob' }),
        assistant(null, { audio: { id: 'a1', transcript: 'Hello there.' } }),
        assistant(null, { refusal: 'I will not.' }),
        assistant('Yes.', { reasoning_content: 'hm', reasoning: { text: 'hm' } }),
        assistant([
          { type: 'thinking', thinking: 'hm' },
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'No.' },
        ]),
        assistant([{ type: 'refusal', refusal: 'Never.' }, 'Really.', { type: 'output_text', text: 'Not.' }]),
        assistant(null),
      ),
    ).toEqual([
      ['user', 'hi'],
      ...['Hello there.', 'I will not.', 'Yes.', 'No.', 'Never.\nReally.\nNot.', ''].map((text) => ['assistant', text]),
    ])
  })

  it('with parts of a person that no agent is shown: their types stand in their place', async () => {
    const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
    const content = [sound, { type: 'input_text', text: 'listen' }, { video: 1 }, { type: 'reasoning', text: 'hm' }]
    const words = [
      '(a part of the message, input_audio, is not shown here)',
      'listen',
      '(a part of the message, without a type, is not shown here)',
    ].join('\n')
    expect(await saidIn([user(content)])).toEqual([['user', words]])
    expect(await historyOf(user(content), assistant('ok'))).toEqual([
      ['user', words],
      ['assistant', 'ok'],
    ])
  })

  it('with pictures at addresses: shown as such in the history, refused where they are new', async () => {
    const at = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }
    const inside = {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${Buffer.from(DOT).toString('base64')}` },
    }
    expect(await historyOf(user([at, inside]), assistant('A dot.'))).toEqual([
      ['user', '(a part of the message, image_url, is not shown here)+1'],
      ['assistant', 'A dot.'],
    ])
    await expect(saidIn([assistant('A dot.'), user([at])])).rejects.toMatchObject({ code: 'invalid' })
  })
})

describe('an answer that is not finished', () => {
  const GO_ON = 'Go on with your last answer'

  it.each([
    ['Open WebUI continues an answer', [user('tell'), assistant('Once upon a')], 'Once upon a'],
    ['a client begins the answer itself', [user('as JSON'), assistant('{ ')], '{'],
    [
      'an agent of the client waits for what its tool has given',
      [
        ...[user('look'), assistant(null, { tool_calls: [call('c1', 'search', '{}')] })],
        { role: 'tool', tool_call_id: 'c1', content: '3 boats' },
      ],
      '3 boats]',
    ],
    ['the client greets first', [assistant('Hello!')], 'Hello!'],
  ])('goes on where %s', async (_, messages, end) => {
    const said = await saidIn(messages)
    expect(said.at(-1)).toEqual(['user', expect.stringContaining(GO_ON)])
    expect(said.at(-1)?.[1]).toContain(`${end}"`)
  })

  it('names no more of it than its end', async () => {
    const [, text = ''] = (await saidIn([user('tell'), assistant('x'.repeat(100_000))])).at(-1) ?? []
    expect(text.length).toBeLessThan(400)
  })

  it('is the one that is asked for where it is empty', async () => {
    expect(await saidIn([user('tell'), assistant(''), assistant(null)])).toEqual([['user', 'tell']])
  })
})

describe('who asks, and in which conversation', () => {
  const LONG = 'u'.repeat(257)
  const readOf = async (more: object, headers: Record<string, string> = {}) => {
    const body = { object: async () => ({ model: 'main', messages: [user('hi')], ...more }) }
    return (await readChat(new HonoRequest(new Request('http://127.0.0.1/', { headers })), { body })).request
  }

  it('a user of more than 256 characters, in the body or the header, is nobody', async () => {
    expect((await readOf({ user: LONG.slice(1) })).user).toBe(LONG.slice(1))
    expect((await readOf({ user: LONG })).user).toBeUndefined()
    expect((await readOf({ user: 'bob' }, { 'x-parley-user': LONG })).user).toBeUndefined()
  })

  it('a session of more than 256 characters is refused before it is trimmed', async () => {
    const long = `${' '.repeat(256)}notes`
    await expect(readOf({ metadata: { session: long } })).rejects.toMatchObject({ code: 'invalid' })
    expect((await readOf({ metadata: { session: ' notes ' } })).session).toBe('notes')
  })
})
