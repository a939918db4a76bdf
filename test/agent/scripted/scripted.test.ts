import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { echoModel } from '../../../src/agent/models/scripted/echo.ts'
import { loadScript } from '../../../src/agent/models/scripted/load-script.ts'
import { playScript } from '../../../src/agent/models/scripted/play-script.ts'
import { textContent } from '../../../src/core/content.ts'
import type { Model, ModelEvent, ModelMessage } from '../../../src/core/model.ts'
import { hastyClock, movedClock } from '../moved-clock.ts'
import { never, oneByOne } from '../turns.ts'

const SCRIPT = `
rules:
  - when: { contains: Weather }
    steps:
      - text: Let me look.
        calls: [{ tool: current_time, args: { timezone: Europe/Berlin } }]
      - text: 'You said {{user}}; the tool said {{result}}'
  - when: { matches: '^(hush|psst)' }
    steps: [{ silence: true }]
  - when: { contains: slowly }
    steps: [{ text: abcdefg, chunk: 3, delayMs: 50 }]
  - when: { contains: broken }
    steps: [{ text: Half a, fail: model_overloaded }]
  - when: { contains: hang }
    steps: [{ text: Well, stallMs: 60000 }]
  - when: { contains: again }
    steps: [{ calls: [{ tool: look }] }]
  - when: { contains: long }
    steps: [{ text: cut of, stop: length }]
`

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-script-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function load(text: string, name = 'script.yaml') {
  const file = join(folder, name)
  await writeFile(file, text)
  return loadScript(file)
}

async function say(model: Model, ...messages: ModelMessage[]): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  const request = { system: '', messages, tools: [], maxTokens: 100 }
  for await (const event of model.stream(request, never())) events.push(event)
  return events
}

const user = (text: string): ModelMessage => ({ role: 'user', content: textContent(text) })
const words = (events: readonly ModelEvent[]) => events.flatMap((event) => (event.type === 'text' ? [event.delta] : []))

describe('scripted/echo', () => {
  it.each([
    ['hello', 'hello'],
    ['two\nlines', 'two\nlines'],
    ['[Ada] hello', 'hello'],
    ['[Ada] [not directed at you] hello there', 'hello there'],
    ['[Ada] [not directed at you] lunch?\n[Bob] hello\nsecond line', 'hello\nsecond line'],
    ['[1] is a list', 'is a list'],
    ['[x]y', '[x]y'],
  ])('%j is echoed as %j', async (text, echoed) => {
    expect(words(await say(echoModel, user('earlier'), user(text)))).toEqual([`echo ${echoed}`])
  })
})

describe('scripted/<file>', () => {
  const modelOf = async (clock = hastyClock()) => playScript('scripted/script.yaml', await load(SCRIPT), clock)

  it('calls a tool in the first step and fills its result into the second', async () => {
    const model = await modelOf()
    const asked = user('[Ada] what WEATHER is it')
    const first = await say(model, asked)
    const call = { id: 'call_1_0', name: 'current_time', args: { timezone: 'Europe/Berlin' } }
    expect(first.slice(0, 2)).toEqual([
      { type: 'text', delta: 'Let me look.' },
      { type: 'tool_call', call },
    ])
    expect(first.at(-1)).toMatchObject({ type: 'end', stop: 'tools', model: 'scripted/script.yaml' })
    const second = await say(
      model,
      asked,
      { role: 'assistant', text: 'Let me look.', calls: [call] },
      { role: 'tool', results: [{ id: call.id, content: textContent('$& noon'), isError: false }] },
    )
    expect(words(second)).toEqual(['You said what WEATHER is it; the tool said $& noon'])
    expect(second.at(-1)).toMatchObject({ stop: 'end', usage: { output: 13 } })
  })

  it('is silent with the marker', async () => {
    expect(words(await say(await modelOf(), user('Psst!')))).toEqual(['<NO_REPLY>'])
  })

  it('streams in chunks with a pause before each', async () => {
    const clock = hastyClock()
    expect(words(await say(await modelOf(clock), user('slowly')))).toEqual(['abc', 'def', 'g'])
    expect(clock.waits).toEqual([50, 50, 50])
  })

  it('fails with its code after its text', async () => {
    await expect(say(await modelOf(), user('broken'))).rejects.toThrow(
      expect.objectContaining({ code: 'model_overloaded' }),
    )
  })

  it('stalls as long as it says, then is model_stalled', async () => {
    const clock = movedClock()
    const stalling = say(playScript('scripted/x', await load(SCRIPT), clock), user('hang'))
    await clock.timerOf(60_000)
    clock.advance(60_000)
    await expect(stalling).rejects.toThrow(expect.objectContaining({ code: 'model_stalled' }))
  })

  it('an abort ends a stall as aborted', async () => {
    const stop = new AbortController()
    const clock = movedClock()
    const model = playScript('scripted/x', await load(SCRIPT), clock)
    const request = { system: '', messages: [user('hang')], tools: [], maxTokens: 1 }
    const stream = oneByOne(model.stream(request, stop.signal))
    await stream.next()
    const next = stream.next()
    await clock.timerOf(60_000)
    stop.abort()
    await expect(next).rejects.toThrow(expect.objectContaining({ code: 'aborted' }))
    expect(clock.pending()).toBe(0)
  })

  it('repeats its last step and can be cut off', async () => {
    const model = await modelOf()
    const step: ModelMessage = { role: 'assistant', text: '', calls: [] }
    const events = await say(model, user('again'), step, step, step)
    expect(events[0]).toEqual({ type: 'tool_call', call: { id: 'call_4_0', name: 'look', args: {} } })
    expect((await say(model, user('long'))).at(-1)).toMatchObject({ stop: 'length' })
  })

  it('a text no rule matches fails and says how to match always', async () => {
    await expect(say(await modelOf(), user('hello'))).rejects.toThrow(/a rule without "when" matches always/)
    const always = playScript('scripted/x', await load('rules: [{ steps: [{ text: Hi }] }]'), hastyClock())
    expect(words(await say(always, user('hello')))).toEqual(['Hi'])
  })

  it('JSON is read as well', async () => {
    const script = await load('{ "rules": [{ "when": { "contains": "x" }, "steps": [{ "text": "y" }] }] }', 's.json')
    expect(script).toEqual({ rules: [{ contains: 'x', steps: [{ text: 'y' }] }] })
  })

  it.each([
    ['rules: []', /rules: /],
    ['rules: [{ steps: [{ txt: a }] }]', /rules\[0\]\.steps\[0\]: .*txt/],
    ['rules: [{ steps: [{ fail: oops }] }]', /rules\[0\]\.steps\[0\]\.fail: /],
    ['rules: [{ when: { matches: "(" }, steps: [{}] }]', /rules\[0\]\.when\.matches: Invalid regular expression/],
    ['rules: [', /cannot be read/],
    ['', /file: /],
  ])('the script %j is refused by file and path', async (text, message) => {
    const loading = load(text, 'bad.yaml')
    await expect(loading).rejects.toThrow(expect.objectContaining({ code: 'config' }))
    await expect(loading).rejects.toThrow(message)
    await expect(loading).rejects.toThrow(/bad\.yaml/)
  })

  it('a file that is not there is refused by name', async () => {
    await expect(loadScript(join(folder, 'none.yaml'))).rejects.toThrow(/none\.yaml cannot be read: ENOENT/)
  })
})
