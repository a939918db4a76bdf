import { describe, expect, it, type TestContext } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { discordPlace, type OtherPlace, slackPlace } from './other-platforms.ts'
import { CASE, rounds } from './rounds.ts'
import { KILLED, type Scene, startScene } from './scene.ts'

/** Names are in the prompt of a group: what was asked is at its end. */
const brief: Script = (request) => {
  const text = lastUserText(request)
  return textReply(text.endsWith('next') ? 'second answer' : 'first answer')
}

interface Case {
  readonly point: FailpointSpec
  readonly what: string
}

const CASES: readonly Case[] = [
  { point: 'CP11-sending-committed', what: 'the send begun, no byte out' },
  { point: 'CP12-bytes-written', what: 'the bytes out, no answer read' },
  { point: 'CP13-response-read', what: 'the answer read, not stored' },
]

const PLACES = [
  { id: 'A10', name: 'Discord', open: discordPlace },
  { id: 'A12', name: 'Slack, a channel', open: () => slackPlace('channel') },
  { id: 'A12', name: 'Slack, a thread', open: () => slackPlace('thread') },
] as const

async function begin(test: TestContext, open: () => Promise<OtherPlace>): Promise<{ scene: Scene; place: OtherPlace }> {
  const place = await open()
  test.onTestFinished(() => place.close())
  return { place, scene: await startScene(test, { script: brief, other: place }) }
}

/** Starts the daemon and waits until it hears the other platform too. */
async function startBoth({ scene, place }: { scene: Scene; place: OtherPlace }, point?: FailpointSpec): Promise<void> {
  const listening = place.listening({ after: place.mark(), timeoutMs: 20_000 })
  await scene.daemon.start(point)
  await listening
}

describe.concurrent('a kill in a send that can be found again', CASE, () => {
  for (const { id, name, open } of PLACES) {
    for (const { point, what } of rounds(CASES)) {
      it(`${point.startsWith('CP11') ? 'A09' : id}: ${name}: ${what} (${point}): exactly one message, not marked`, async (test) => {
        const both = await begin(test, open)
        const { scene, place } = both
        await startBoth(both, point)
        place.say('first')
        expect(await scene.daemon.exited()).toEqual(KILLED)
        await startBoth(both)
        // Behind it in the same conversation: once this is answered, the first is settled.
        place.say('next')
        await place.sent('second answer', { timeoutMs: 30_000 })
        const { outbox, turns, inbox } = await scene.finish()
        expect(place.texts()).toEqual(['first answer', 'second answer'])
        if (point === 'CP13-response-read') expect(place.found()).toBeGreaterThan(0)
        expect(outbox.map(({ state }) => state)).toEqual(['sent', 'sent'])
        expect(turns.every(({ attempt, state }) => attempt === 1 && state === 'completed')).toBe(true)
        expect(inbox.filter(({ outcome }) => outcome === 'answered')).toHaveLength(2)
      })
    }
  }
})
