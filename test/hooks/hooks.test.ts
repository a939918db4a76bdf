import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { deferred } from '../../src/core/deferred.ts'
import { BEING_FORGOTTEN } from '../../src/core/forgetting.ts'
import type { BeforeSave, BeforeTool, Hook, HookMoment } from '../../src/core/hook.ts'
import type { SessionId, TraceId } from '../../src/core/ids.ts'
import { createHooks, type HookRequest } from '../../src/hooks/hooks.ts'
import { hookWatch } from '../../src/hooks/store-watch.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { setClock } from '../e2e/set-clock.ts'

const SAID = {
  on: 'before_save',
  conversation: 'telegram:direct:1',
  text: 'hello',
  edit: false,
} as unknown as BeforeSave
const CALL = { on: 'before_tool', tool: 'pay', args: { token: 'canary' } } as unknown as BeforeTool
const DONE = { on: 'session_delete', session: 's' } as never

function hooks(
  on: HookMoment | readonly HookMoment[],
  post: (request: HookRequest) => Promise<string>,
  clock = systemClock,
) {
  const hook: Hook = {
    ...{ name: 'one', on: [on].flat(), timeoutMs: 5_000 },
    at: { kind: 'address', url: 'http://127.0.0.1:1', secret: 'key' },
  }
  const log = new AwaitedLog()
  const redact = (text: string) => text.replaceAll('canary', '[secret]')
  return {
    log,
    ...createHooks([hook], { clock, logger: log, redact, post: (_, request) => post(request) }),
  }
}

test('C29: no hook is told the value of a secret, and none brings one in', async () => {
  const told: string[] = []
  const post = (answer: object) => async (request: HookRequest) => {
    told.push(request.body)
    return JSON.stringify(answer)
  }
  const refused = hooks('before_tool', post({ deny: 'because of canary' }))
  expect(await refused.beforeTool(CALL)).toBe('because of [secret]')
  expect(await hooks('before_save', post({ text: 'a canary' })).beforeSave(SAID)).toBe('a [secret]')
  expect(told).toHaveLength(2)
  expect(told.join()).toContain('"token":"[secret]"')
  expect(told.join()).not.toContain('canary')
})

test('R8: what a hook answers has its longest length, and anything but an object is no answer', async () => {
  const long = JSON.stringify({ text: 'x'.repeat(100_001), deny: 'y'.repeat(501) })
  expect(await hooks('before_save', async () => long).beforeSave(SAID)).toHaveLength(100_000)
  expect(await hooks('before_tool', async () => long).beforeTool(CALL)).toHaveLength(500)
  for (const answer of ['[]', '7', '"no"', 'null', 'no']) {
    const { beforeTool, log } = hooks('before_tool', async () => answer)
    expect(await beforeTool(CALL)).toBeUndefined()
    expect(log.lines.map(({ sentence }) => sentence)).toEqual(['A hook failed; what it was called for goes on'])
  }
})

test('R8: a mark of the encoding before an answer is none of it: what a hook masks is masked', async () => {
  expect(await hooks('before_save', async () => '\uFEFF{"text":"masked"}').beforeSave(SAID)).toBe('masked')
  expect(await hooks('before_save', async () => '\uFEFF\r\n').beforeSave(SAID)).toBe('hello')
})

test('R8: whoever waits for an answer does not wait behind those who are only notified', async () => {
  const slow = deferred()
  const post = async ({ body }: HookRequest) => {
    if (body.includes('session_delete')) await slow.promise
    return body.includes('session_delete') ? '' : '{"deny":"no"}'
  }
  const { notify, beforeTool, settled } = hooks(['before_tool', 'session_delete'], post)
  for (let nth = 0; nth < 20; nth++) notify(DONE)
  expect(await beforeTool(CALL)).toBe('no')
  slow.resolve()
  await settled()
})

test('R8: a hook that is asked is not left out because of how much waits for it, only where it is late itself', async () => {
  const slow = deferred()
  const clock = setClock('2026-11-24T09:20:00Z')
  const asked = { before_save: 0, before_tool: 0 }
  const post = async ({ body }: HookRequest) => {
    const { on } = JSON.parse(body) as { on: keyof typeof asked }
    if (asked[on]++ < 8) await slow.promise
    return '{"deny":"no","text":"changed"}'
  }
  const { beforeSave, beforeTool } = hooks(['before_tool', 'before_save'], post, clock)
  const saved = Array.from({ length: 20 }, (_, no) => beforeSave({ ...SAID, conversation: `telegram:direct:${no}` }))
  const judged = Array.from({ length: 12 }, () => beforeTool(CALL))
  await vi.waitFor(() => expect(asked).toEqual({ before_save: 8, before_tool: 8 }))
  clock.skip(5_000)
  expect(await Promise.all(saved)).toEqual([...Array(8).fill('hello'), ...Array(12).fill('changed')])
  expect(await Promise.all(judged)).toEqual([...Array(8).fill(undefined), ...Array(4).fill('no')])
  slow.resolve()
})

test('R8: of a flood of notifications a thousand wait, and the log says how many were left out', async () => {
  const slow = deferred()
  let calls = 0
  const { notify, settled, log } = hooks('session_delete', async () => {
    calls++
    await slow.promise
    return ''
  })
  for (let nth = 0; nth < 1_003; nth++) notify(DONE)
  expect(log.lines.map(({ fields }) => fields.calls)).toEqual([1, 2])
  slow.resolve()
  await settled()
  expect(calls).toBe(1_000)
})

test('R8: every call that runs ends with the daemon, whatever its deadline', async () => {
  const signals: AbortSignal[] = []
  const post = ({ signal }: HookRequest): Promise<string> => {
    signals.push(signal)
    return new Promise(() => {})
  }
  const withoutDeadlines = { ...systemClock, after: () => () => {} }
  const { notify, beforeSave, settled, end } = hooks(['before_save', 'session_delete'], post, withoutDeadlines)
  notify(DONE)
  const saved = beforeSave(SAID)
  await vi.waitFor(() => expect(signals).toHaveLength(2))
  end()
  expect(await saved).toBe('hello')
  await settled()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
})

test('R8: a hook is told every token that the model has read, from a cache or not', () => {
  const told: unknown[] = []
  const watch = hookWatch({ has: () => true, notify: (call) => told.push(call), forget() {} })
  const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 1_000 }
  watch?.appended('s' as SessionId, 1, [{ type: 'turn_completed', data: { outcome: 'answered', steps: 1, usage } }])
  expect(told).toMatchObject([{ on: 'after_turn', tokens: { input: 1_110, output: 5 } }, { on: 'session_save' }])
})

test('R8: whoever writes in many threads of a chat leaves places to other chats', async () => {
  const slow = deferred()
  const asked: string[] = []
  const { beforeSave } = hooks('before_save', async ({ body }) => {
    asked.push(JSON.parse(body).conversation)
    await slow.promise
    return ''
  })
  const say = (conversation: string) => beforeSave({ ...SAID, conversation })
  const all = Array.from({ length: 20 }, (_, thread) => say(`slack:channel:C1/${thread}`))
  all.push(say('slack:channel:C2'))
  await new Promise(setImmediate)
  expect(asked).toContain('slack:channel:C2')
  slow.resolve()
  await Promise.all(all)
  expect(asked).toHaveLength(21)
})

test('S41: a call that waits hands on nothing of a log that words are taken out of meanwhile', async () => {
  const slow = deferred()
  const told: { session: string; seq: number; events: { data: object }[] }[] = []
  const all = hooks('session_save', async ({ body }) => {
    told.push(JSON.parse(body))
    await slow.promise
    return ''
  })
  const watch = hookWatch(all)
  const says = (session: string, text: string) =>
    watch?.appended(session as SessionId, told.length, [
      { type: 'assistant_posted', data: { text, traceId: 'tr_1' as TraceId } },
    ])
  for (let nth = 0; nth < 8; nth++) says('before', 'cod')
  says('one', 'eel')
  says('other', 'cod')
  watch?.appended('one' as SessionId, 2, [{ type: 'words_forgotten', data: { by: 'in_1', events: 1 } }])
  slow.resolve()
  await all.settled()
  const texts = told.slice(8).map(({ session, events }) => [session, ...events.map(({ data }) => data)])
  expect(texts).toEqual([
    ['one', { text: '', traceId: 'tr_1' }],
    ['other', { text: 'cod', traceId: 'tr_1' }],
    ['one', { by: 'in_1', events: 1 }],
  ])
})

test('S41: a call that waits for a place at a hook is handed to none once its words are being forgotten', async () => {
  const slow = deferred()
  const asked: string[] = []
  const { beforeTool } = hooks('before_tool', async ({ body }) => {
    asked.push(body)
    await slow.promise
    return ''
  })
  const others = Array.from({ length: 8 }, () => beforeTool(CALL))
  let isForgotten = false
  const late = beforeTool({ ...CALL, args: { text: 'zqx' } }, async () => isForgotten)
  isForgotten = true
  slow.resolve()
  expect(await late).toBe(BEING_FORGOTTEN)
  await Promise.all(others)
  expect(asked).toHaveLength(8)
  expect(asked.join()).not.toContain('zqx')
})
