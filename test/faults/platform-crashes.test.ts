import { describe, expect, it, type TestContext } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { discordPlace, type OtherPlace, type PlaceOptions, slackPlace, startAll } from './other-platforms.ts'
import { CASE, rounds } from './rounds.ts'
import { KILLED, type Scene, startScene } from './scene.ts'
import type { Stored } from './stored.ts'
import { asksFor, UNKNOWN } from './tool-scripts.ts'

interface Place {
  readonly name: string
  /** The fault cases of a send that was begun: before its bytes left, and after. */
  readonly lost: 'F-A10' | 'F-A12'
  open(options?: PlaceOptions): Promise<OtherPlace>
}

const DISCORD: Place = { name: 'Discord', lost: 'F-A10', open: (options) => discordPlace(options) }
const DIRECT: Place = { ...DISCORD, name: 'Discord, a direct chat', open: (options) => discordPlace(options, 'direct') }
const SLACK: Place = { name: 'Slack', lost: 'F-A12', open: (options) => slackPlace(options) }
const THREAD: Place = { ...SLACK, name: 'Slack, a mention', open: (options) => slackPlace(options, 'thread') }
const PLACES: readonly Place[] = [DISCORD, SLACK]

interface Case {
  readonly point: FailpointSpec
  readonly id: string
  readonly what: string
  /** The bot has answered there before, in the same life. */
  readonly met?: true
}

const BEFORE_IT_IS_STORED: readonly (Case & { readonly where: Place })[] = [
  { where: SLACK, point: 'CP1-received', id: 'F-A01', what: 'received, not stored' },
  // The gateway repeats nothing: read back is what came later than the last thing read there. Here the
  // third message is meant, behind an earlier one and its answer.
  { where: DISCORD, point: 'CP1-received:3', id: 'F-A01', what: 'received, not stored', met: true },
  { where: DIRECT, point: 'CP1-received:3', id: 'F-A01', what: 'received, not stored', met: true },
]

const BEFORE_THE_SEND: readonly Case[] = [
  { point: 'CP2-committed', id: 'F-A02', what: 'stored, not acknowledged' },
  { point: 'CP3-acked', id: 'F-A03', what: 'acknowledged' },
  { point: 'CP4-claimed', id: 'F-A03', what: 'the turn claimed' },
  { point: 'CP6-model-answer-uncommitted', id: 'F-A05', what: 'the model answered, nothing of it stored' },
  { point: 'CP10-outbox-planned', id: 'F-A09', what: 'the answer planned' },
]

const inTheSend = ({ lost }: Place): readonly Case[] => [
  { point: 'CP11-sending-committed', id: 'F-A09', what: 'the send begun, no byte out' },
  { point: 'CP12-bytes-written', id: lost, what: 'the bytes out, no answer read' },
  { point: 'CP13-response-read', id: lost, what: 'the answer read, not stored' },
]

interface TheCase {
  readonly place: OtherPlace
  readonly point: FailpointSpec
  /** Answers what ends with `next` with `second answer`; else this. */
  readonly script: Script
  readonly met?: true | undefined
  /** What happens between the first message and the kill. */
  readonly meanwhile?: (place: OtherPlace) => Promise<void>
}

/**
 * The daemon dies over `first` and comes back. Resolves when something said behind it was answered too: a conversation
 * is in order, so `first` is settled then.
 */
async function survive(test: TestContext, { place, point, script, met, meanwhile }: TheCase): Promise<Told> {
  test.onTestFinished(() => place.close())
  const scene = await startScene(test, { script: orNext(script), others: [place] })
  await startAll(scene, [place], point)
  if (met) {
    place.say('before')
    await place.sent('an earlier answer')
  }
  place.say('first')
  await meanwhile?.(place)
  expect(await scene.daemon.exited()).toEqual(KILLED)
  await startAll(scene, [place])
  // What was not stored comes again, and only then has its place in the order.
  if (point.startsWith('CP1-')) await place.sent('first answer')
  place.say('next')
  await place.sent('second answer')
  const stored = await scene.finish()
  const texts = place.texts()
  expect(texts.pop()).toBe('second answer')
  if (met) expect(texts.shift()).toBe('an earlier answer')
  return { scene, stored, texts }
}

interface Told {
  readonly scene: Scene
  readonly stored: Stored
  /** What the bot has there for `first`. */
  readonly texts: readonly string[]
}

/** Names are in the prompt of a group: what was asked is at its end. */
function orNext(script: Script): Script {
  return (request, turn) => {
    const text = lastUserText(request)
    if (text.endsWith('before')) return textReply('an earlier answer')
    return text.endsWith('next') ? textReply('second answer') : script(request, turn)
  }
}

const plainly: Script = () => textReply('first answer')

const HALVES = ['The first half, ', 'and the second.']

describe.concurrent('a kill on the way of a message beside Telegram', CASE, () => {
  const ways = [
    ...BEFORE_IT_IS_STORED,
    ...PLACES.flatMap((where) => [...BEFORE_THE_SEND, ...inTheSend(where)].map((one) => ({ where, ...one }))),
    ...inTheSend(THREAD).map((one) => ({ where: THREAD, ...one })),
  ]
  for (const { where, id, what, point, met } of rounds(ways, 8)) {
    it(`${id}: ${where.name}: ${what} (${point}): one turn, exactly one message`, async (test) => {
      const place = await where.open()
      const { stored, texts } = await survive(test, { place, point, met, script: plainly })
      expect(texts).toEqual(['first answer'])
      if (point === 'CP13-response-read') expect(place.found()).toBeGreaterThan(0)
      expect(new Set(stored.outbox.map(({ state }) => state))).toEqual(new Set(['sent']))
      expect(new Set(stored.turns.map(({ state }) => state))).toEqual(new Set(['completed']))
      expect(new Set(stored.inbox.map(({ outcome }) => outcome))).toEqual(new Set(['answered']))
    })
  }

  for (const { point, what } of rounds(inTheSend(THREAD), 3)) {
    it(`F-A13: Slack without history: ${what} (${point}): repeated once, marked, and what is said next waits for nothing`, async (test) => {
      const place = await slackPlace({ blind: true }, 'thread')
      const { stored, texts } = await survive(test, { place, point, script: plainly })
      const arrived = point === 'CP11-sending-committed' ? [] : ['first answer']
      expect(texts).toEqual([...arrived, '(repeat) first answer'])
      expect(stored.outbox.map(({ state }) => state)).toEqual(['resent', 'sent'])
    })
  }

  for (const where of rounds(PLACES, 2)) {
    it(`F-A04: ${where.name}: while the answer is shown as it grows (CP5-mid-stream): what was shown becomes the whole`, async (test) => {
      const gate = createGate()
      const script = () => textReply(HALVES.join(''), { split: () => HALVES, holds: [{ beforeDelta: 1, gate }] })
      const { texts } = await survive(test, {
        place: await where.open({ streaming: true }),
        point: 'CP5-mid-stream',
        script,
        async meanwhile(place) {
          await place.sent('The first half,')
          gate.release()
        },
      })
      expect(texts).toEqual([HALVES.join('')])
    })

    it(`F-A04: ${where.name}: lost sight of while it grew (CP5-mid-stream): it is found, and becomes the whole`, async (test) => {
      const gate = createGate()
      const script = () => textReply(HALVES.join(''), { split: () => HALVES, holds: [{ beforeDelta: 1, gate }] })
      const { texts } = await survive(test, {
        place: await where.open({ streaming: true }),
        point: 'CP5-mid-stream',
        script,
        async meanwhile(place) {
          await place.holdSend().reached
          gate.release()
        },
      })
      expect(texts).toEqual([HALVES.join('')])
    })

    const tools = [
      ['CP9-tool-done-uncommitted', 'keyed', 2, 'keyed done'],
      ['CP7-tool-intent', 'once', 0, UNKNOWN],
      ['CP8-tool-running', 'once', 1, UNKNOWN],
    ] as const
    for (const [point, tool, runs, told] of rounds(tools, 4)) {
      it(`F-A07: ${where.name}: around a ${tool} tool (${point}): ${runs} executions, exactly one message`, async (test) => {
        const place = await where.open()
        const { scene, texts } = await survive(test, { place, point, script: asksFor(`probe_${tool}`) })
        expect(texts).toEqual([`told: ${told}`])
        expect(scene.probes()).toHaveLength(runs)
      })
    }

    for (const point of rounds(['CP14-between-chunks', 'CP13-response-read:2'] as const, 2)) {
      it(`F-A15: ${where.name}: in an answer of four messages (${point}): none missing, none twice, order kept`, async (test) => {
        const place = await where.open()
        const chunks = [1, 2, 3, 4].map((part) => `part ${part} `.padEnd(place.fullMessage, 'x'))
        const { texts } = await survive(test, { place, point, script: () => textReply(chunks.join('\n\n')) })
        expect(texts).toEqual(chunks)
      })
    }
  }
})
