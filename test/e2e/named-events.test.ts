import { expect, it } from 'vitest'
import { type Frame, readFrames } from '../../src/client/events.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { freePort } from '../adapters/free-port.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

const SUMMARY =
  'Ada asked for several things in a row, and each of them was answered; nothing of it is left open, she said.'
const agents = [
  { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: ['time'], contextTokens: 9_000 },
]

/** Answers as the words say; `slow` waits for its gate, `look` uses a tool behind one. The last one fills the window. */
function scripted() {
  const gates = { slow: createGate(), look: createGate() }
  const replies: Readonly<Record<string, Reply>> = {
    cut: textReply('half', { stopReason: 'max_tokens' }),
    refuse: textReply('', { stopReason: 'refusal' }),
    fail: { error: { status: 400, type: 'invalid_request_error' } },
    slow: textReply('late', { holds: [{ beforeDelta: 0, gate: gates.slow }] }),
    four: textReply('heard four', { usage: { input_tokens: 8_900, output_tokens: 9 } }),
    look: {
      blocks: [{ type: 'tool_use', name: 'current_time', input: {} }],
      holds: [{ beforeDelta: 0, gate: gates.look }],
    },
  }
  const script: Script = (request) => {
    if (JSON.stringify(request.system ?? '').includes('You condense')) return textReply(SUMMARY)
    const text = lastUserText(request).split('\n').at(-1) ?? ''
    const reply = toolResult(request) === undefined ? replies[text] : undefined
    return reply ?? textReply(`heard ${text}`)
  }
  return { gates, script }
}

/** Returns the names that have a prefix, with the reasons of ends, until the context was cleared after a summary. */
async function read(frames: AsyncIterable<Frame>, summedUp: () => Promise<unknown>): Promise<readonly string[][]> {
  const told: string[][] = []
  for await (const { event, data } of frames) {
    if (event === 'start') continue
    const { type, stopReason = [] } = JSON.parse(data)
    expect(type).toBe(event)
    if (event.includes(':')) told.push([event].concat(stopReason))
    if (event === 'agent:context_compacted') await summedUp()
    if (event === 'agent:context_cleared') break
  }
  return told
}

it('C5, C17, R24: a stream that is asked for names has those of the contract, with the reason of each end', async () => {
  const { gates, script } = scripted()
  const port = await freePort()
  const http = { host: '127.0.0.1', port, hosts: [], origins: [] }
  const session = { queue: { max: 9, busy: 'steer' } } as const
  const home = await startHousehold({ script, streaming: false, config: { agents, http, session } })
  const { sessions, tokens } = home.daemon.operator
  const { token } = await tokens.create({ owner: true })
  const left = new AbortController()
  const { body } = await fetch(`http://127.0.0.1:${port}/v1/events?named=true`, {
    headers: { authorization: `Bearer ${token}` },
    signal: left.signal,
  })
  if (!body) throw new Error('no stream')
  const reading = read(
    readFrames(body, () => {}),
    () => sessions.setHistory('cli:notes', { kind: 'truncated', turns: 1 }),
  )

  const { world, ledger } = home.telegram
  world.say({ from: 111, text: 'look' })
  await gates.look.reached
  await ledger.confirmed(ledger.updateIdOf(world.say({ from: 111, text: 'and this' })))
  gates.look.release()
  await ledger.nextFromBot('sent')
  for (const text of ['hello', 'cut', 'fail', 'refuse']) await sessions.post('cli:notes', { text })
  await sessions.post('cli:notes', { text: 'slow', waitSeconds: 0 })
  await gates.slow.reached
  await sessions.cancel('cli:notes')
  for (const text of ['one', 'two', 'three', 'four']) await sessions.post('cli:notes', { text })

  const told = await reading
  left.abort()
  const turn = (...end: string[]) => [['session:turn_started'], end]
  expect(told).toEqual([
    ['session:started'],
    ['session:turn_started'],
    ['agent:directive_injected'],
    ['session:turn_completed', 'stop'],
    ['session:started'],
    ...turn('session:turn_completed', 'stop'),
    ...turn('session:turn_completed', 'length'),
    ...turn('session:turn_completed', 'error'),
    ...turn('session:turn_completed', 'content_filter'),
    ...turn('session:cancelled', 'aborted'),
    ...Array.from({ length: 4 }, () => turn('session:turn_completed', 'stop')).flat(),
    ['agent:context_compacted'],
    ['agent:context_cleared'],
  ])
})
