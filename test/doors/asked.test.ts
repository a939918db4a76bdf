import { describe, expect, it } from 'vitest'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { systemClock } from '../../src/core/clock.ts'
import { DOORS } from '../../src/core/doors.ts'
import type { BeforeTool, Hook } from '../../src/core/hook.ts'
import { createHooks } from '../../src/hooks/hooks.ts'
import { plainAnswers } from '../../src/mcp/login/plain-answers.ts'
import { readOldSession } from '../../src/sessions/service/read-old-session.ts'
import { createAudio } from '../../src/web/audio.ts'
import { createDoor } from '../../src/web/door.ts'
import { createSearch } from '../../src/web/search.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { startSink, testDoor } from '../web/net.ts'

const { signal } = new AbortController()

/** Returns a list of so many items, each of two characters. */
const listOf = (items: number): string => `[${'0,'.repeat(items - 1)}0]`
/** A text that holds as many values as a door allows beside those of the members around it. */
const full = (door: { readonly values: number }, around: number): string => listOf(door.values - around)

async function answering(body: string): Promise<string> {
  const { port } = await startSink((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(body),
  )
  return `http://127.0.0.1:${port}`
}

describe('door search: an answer of a search provider', () => {
  async function found(body: string) {
    const search = createSearch(
      { provider: 'searxng', url: await answering(body) },
      { door: testDoor(), clock: systemClock },
    )
    return search({ query: 'garden', count: 20 }, signal)
  }
  const result = '{"url":"https://a.example.org/","title":"A","content":"words"}'

  it('as many results as the bound allows: those that were asked for', async () => {
    const some = Math.floor(DOORS.search.values / 4) - 2
    expect(await found(`{"results":[${Array.from({ length: some }, () => result).join()}]}`)).toHaveLength(20)
  })

  it('more values or levels than the bound: refused in words, with nothing of it', async () => {
    const refused = { code: 'unavailable', message: expect.stringContaining('no JSON, or only a part of it') }
    await expect(found(`{"results":${full(DOORS.search, 0)}}`)).rejects.toMatchObject(refused)
    await expect(found(`{"results":[${result}],"x":${'['.repeat(101)}${']'.repeat(101)}}`)).rejects.toMatchObject(
      refused,
    )
  })
})

describe('door audio: an answer of the audio endpoint', () => {
  async function heard(body: string) {
    const baseUrl = await answering(body)
    const door = createDoor({ clock: systemClock })
    const audio = createAudio({ baseUrl, limits: DEFAULT_AUDIO_LIMITS, transcribe: { model: 'w' } }, door)
    return audio.transcribe?.({ bytes: new Uint8Array(10), mime: 'audio/ogg' }, signal)
  }

  it('as many values as the bound allows beside the words: the words', async () => {
    expect(await heard(`{"text":"buy milk","segments":${full(DOORS.audio, 10)}}`)).toEqual({ said: 'buy milk' })
  })

  it('more values than the bound: no transcript', async () => {
    await expect(heard(`{"text":"buy milk","segments":${full(DOORS.audio, 0)}}`)).rejects.toMatchObject({
      code: 'unreadable',
    })
  })
})

describe('door toolLogin: an answer of the server at which people log in', () => {
  const asking = (body: string) =>
    plainAnswers(async () => new Response(body))('https://login.example.org/token', { method: 'POST' })

  it('as many values as the bound allows beside the token: the token', async () => {
    const answer = await asking(`{"access_token":"t","x":${full(DOORS.toolLogin, 10)}}`)
    expect(await answer.json()).toMatchObject({ access_token: 't', token_type: 'Bearer' })
  })

  it('more values than the bound: too_long, and of more bytes no more are read', async () => {
    await expect(asking(`{"access_token":"t","x":${full(DOORS.toolLogin, 0)}}`)).rejects.toMatchObject({
      code: 'too_long',
    })
    let read = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        read++
        controller.enqueue(new Uint8Array(64_000))
      },
    })
    await plainAnswers(async () => new Response(endless))('https://login.example.org/')
    expect(read).toBeLessThan(DOORS.toolLogin.bytes / 64_000 + 4)
  })
})

describe('door hookAnswer: the answer of a hook', () => {
  async function denied(printed: string) {
    const log = new AwaitedLog()
    const hook: Hook = {
      ...{ name: 'one', on: ['before_tool'], timeoutMs: 5_000 },
      at: { kind: 'address', url: 'http://127.0.0.1:1', secret: 'key' },
    }
    const deps = { clock: systemClock, logger: log, redact: (text: string) => text, post: async () => printed }
    const call = { on: 'before_tool', tool: 'pay', args: {} } as unknown as BeforeTool
    return { deny: await createHooks([hook], deps).beforeTool(call), log }
  }

  it('as many values as the bound allows beside its word: its word', async () => {
    expect((await denied(`{"deny":"no","x":${full(DOORS.hookAnswer, 10)}}`)).deny).toBe('no')
  })

  it('more values than the bound: it counts as a hook that failed, in one line', async () => {
    const { deny, log } = await denied(`{"deny":"no","x":${full(DOORS.hookAnswer, 0)}}`)
    expect(deny).toBeUndefined()
    expect(log.lines.map(({ sentence }) => sentence)).toEqual(['A hook failed; what it was called for goes on'])
  })
})

describe('door oldStore: a file of another program', () => {
  const messages = '{"role":"user","content":"hello"}'
  const read = (text: string) => readOldSession({ name: 'old.json', text })

  it('more levels than the bound: refused with that reason, and no conversation', () => {
    const deep = `{"messages":[${messages}],"x":${'['.repeat(101)}${']'.repeat(101)}}`
    expect(read(`{"messages":[${messages}]}`).messages).toHaveLength(1)
    expect(() => read(deep)).toThrow('more than 100 levels')
  })
})
