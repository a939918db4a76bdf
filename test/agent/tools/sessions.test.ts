import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../../../src/agent/tools/catalogue.ts'
import { inWords } from '../../../src/core/content-words.ts'
import { runId, toSessionId } from '../../../src/core/ids.ts'
import type { SessionTools } from '../../../src/core/session-tools.ts'
import type { WebTools } from '../../../src/core/web.ts'
import { toolContext } from '../turns.ts'

/** Answers nothing and keeps what it was asked. */
function recording() {
  const asked: unknown[] = []
  const port: SessionTools = {
    async list(query, caller) {
      asked.push({ query, caller })
      return []
    },
    async history(query, caller) {
      asked.push({ query, caller })
      return { sessionKey: query.sessionKey, sessionId: toSessionId('s'), messages: [] }
    },
    async sendReach() {
      return 'judged'
    },
    async search() {
      return []
    },
    async send(request, caller) {
      asked.push({ request, caller })
      return { runId: runId('x'), sessionKey: request.sessionKey, status: 'accepted' }
    },
    async wait() {
      throw new Error('no tool waits again')
    },
  }
  const tools = createCatalogue({ timeZone: 'UTC', sessions: port, web: {} as WebTools })(['sessions'])
  const run = async (name: string, args: object) => {
    const tool = (await tools).find(({ spec }) => spec.name === name)
    if (!tool) throw new Error(`There is no tool ${name}.`)
    return tool
      .run(args, toolContext(0))
      .then((output) => (typeof output === 'string' ? output : inWords(output.content)))
  }
  return { asked, tools, run }
}

const caller = { turn: { id: 'turn_1', sessionId: 's', agentId: 'main' } }

describe('the tool group sessions', () => {
  it('T1: is exactly sessions_list, sessions_history and sessions_send', async () => {
    expect((await recording().tools).map(({ spec, class: toolClass }) => [spec.name, toolClass])).toEqual([
      ['sessions_list', 'pure'],
      ['sessions_history', 'pure'],
      ['sessions_send', 'keyed'],
    ])
  })

  it('asks under the authority of the turn, whatever the arguments say', async () => {
    const { asked, run } = recording()
    await run('sessions_list', { principal: { role: 'owner' }, agentId: 'second' })
    await run('sessions_history', { sessionKey: 'main', sessionId: 'x' })
    await run('sessions_send', { sessionKey: 'main', message: 'hi', requestId: 'other' })
    expect(asked).toEqual([
      { query: {}, caller },
      { query: { sessionKey: 'main', includeTools: false }, caller },
      { request: { sessionKey: 'main', message: 'hi', announce: false, requestId: 'c1' }, caller },
    ])
  })

  it('passes on what it is given, numbers written as text too', async () => {
    const { asked, run } = recording()
    await run('sessions_list', { kinds: ['group', 7], limit: '5', activeMinutes: 10, messageLimit: 2 })
    await run('sessions_history', { sessionKey: 'main', limit: 3, includeTools: true })
    await run('sessions_send', { sessionKey: 'main', message: 'hi', timeoutSeconds: 0, announce: true })
    expect(asked).toMatchObject([
      { query: { kinds: ['group'], limit: 5, activeMinutes: 10, messageLimit: 2 } },
      { query: { sessionKey: 'main', limit: 3, includeTools: true } },
      { request: { timeoutSeconds: 0, announce: true } },
    ])
  })

  it('reads null as nothing given, and no other name than its own', async () => {
    const { asked, run } = recording()
    await run('sessions_list', { kinds: null, limit: null, other: 1 })
    await run('sessions_history', { sessionKey: 'main', limit: null, includeTools: null })
    expect(asked).toEqual([
      { query: {}, caller },
      { query: { sessionKey: 'main', includeTools: false }, caller },
    ])
    await expect(run('sessions_history', { sessionKey: null })).rejects.toMatchObject({ code: 'invalid' })
  })

  it.each([
    ['a text instead of a list', 'group', ['group'], undefined],
    [
      'a kind that is not there',
      ['group', 'Chats'],
      ['group', 'Chats'],
      'No kind is called chats, so this is only group.',
    ],
    [
      'no kind that is there',
      ['chats', 'rooms'],
      ['chats', 'rooms'],
      'No kind is called chats, rooms, so this is every kind.',
    ],
    ['nothing to tell kinds by', [''], [''], undefined],
  ])('T7: sessions_list with %s never answers another question silently', async (_, kinds, asked, note) => {
    const tool = recording()
    const answer = JSON.parse(await tool.run('sessions_list', { kinds }))
    expect(tool.asked).toMatchObject([{ query: { kinds: asked } }])
    const known = 'The kinds are main, group, cron, hook, node, other.'
    expect(answer).toEqual({ sessions: [], ...(note === undefined ? {} : { note: `${note} ${known}` }) })
  })

  it('answers JSON', async () => {
    const { run } = recording()
    expect(JSON.parse(await run('sessions_list', {}))).toEqual({ sessions: [] })
    expect(JSON.parse(await run('sessions_send', { sessionKey: 'main', message: 'hi' }))).toMatchObject({
      status: 'accepted',
      sessionKey: 'main',
    })
  })

  it.each([
    ['sessions_history', {}, 'sessionKey must be a text that is not empty.'],
    ['sessions_history', { sessionKey: 'main', limit: 'many' }, 'limit must be a number.'],
    ['sessions_history', { sessionKey: 'main', includeTools: 'yes' }, 'includeTools must be true or false.'],
    ['sessions_list', { kinds: 7 }, 'kinds must be a list of texts.'],
    ['sessions_list', { limit: Number.NaN }, 'limit must be a number.'],
    ['sessions_send', { sessionKey: 'main', message: ' ' }, 'message must be a text that is not empty.'],
  ])('%s refuses %j in words for the model', async (name, args, message) => {
    await expect(recording().run(name, args)).rejects.toMatchObject({ code: 'invalid', message })
  })

  it('T13: history needs a key and send a message: the loop refuses a call without', async () => {
    const required = (await recording().tools).map(({ spec }) => spec.parameters.required)
    expect(required).toEqual([undefined, ['sessionKey'], ['sessionKey', 'message']])
  })

  it('S41: a list shows the sessions that it names: a name is made of words that were said there', async () => {
    const row = (name: string, more: object) => ({ sessionId: toSessionId(name), key: name, kind: 'group', ...more })
    const rows = [row('named', { displayName: 'The gulls' }), row('said', { messages: [] }), row('neither', {})]
    const sessions = { list: async () => rows } as unknown as SessionTools
    const tools = await createCatalogue({ timeZone: 'UTC', sessions, web: {} as WebTools })(['sessions'])
    const output = await tools.find(({ spec }) => spec.name === 'sessions_list')?.run({}, toolContext(0))
    expect(output).toMatchObject({ shows: ['named', 'said'] })
  })
})
