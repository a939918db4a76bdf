import { writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, type TestContext } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { discordPlace, type OtherPlace, slackPlace, startAll } from './other-platforms.ts'
import { rounds, times } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'

/**
 * Each is counted from when the first word was answered everywhere, so that the kill meets the second: on a busy machine a
 * platform repeats an event it waits for, and a repeat is received and committed like any other.
 */
const POINTS: readonly FailpointSpec[] = [
  'CP1-received:2',
  'CP2-committed:2',
  'CP4-claimed:2',
  'CP6-model-answer-uncommitted:2',
  'CP10-outbox-planned:2',
  'CP11-sending-committed:2',
  'CP12-bytes-written:2',
  'CP13-response-read:2',
]
const KILLS = times(5, 2)
const EVERY_MS = 150
/** What a session's queue holds while nobody is there to answer. */
const MOST_SAID = 80

/** Says the last word again. */
const parrot: Script = (request) => textReply(`to ${lastUserText(request).split(/\s/).at(-1)}`, { delayMs: 5 })

interface Everywhere {
  readonly scene: Scene
  readonly discord: OtherPlace
  readonly slack: OtherPlace
  /** A point counts from `arm` on. */
  start(point?: FailpointSpec): Promise<void>
  arm(): void
  /** Ada says it on all three platforms at once. */
  say(text: string): void
  /** Says it and waits for the three answers. */
  settle(text: string): Promise<void>
}

async function openEverywhere(test: TestContext): Promise<Everywhere> {
  const [discord, slack] = [await discordPlace(), await slackPlace()]
  const others = [discord, slack]
  test.onTestFinished(async () => {
    for (const place of others) await place.close()
  })
  const scene = await startScene(test, { script: parrot, others })
  const armFile = `${scene.socketPath}.armed`
  const say = (text: string): void => {
    scene.telegram.world.say({ from: ADA, text })
    for (const place of others) place.say(text)
  }
  return {
    scene,
    discord,
    slack,
    start: (point) => startAll(scene, others, point, armFile),
    arm: () => writeFileSync(armFile, ''),
    say,
    async settle(text) {
      say(text)
      await Promise.all([scene.sent(`to ${text}`), ...others.map((place) => place.sent(`to ${text}`))])
    },
  }
}

describe.concurrent('a kill with all three platforms busy', { timeout: 240_000 }, () => {
  for (const point of rounds(POINTS, 8)) {
    it(`F-A18: ${point}: Discord and Slack have each answer once, Telegram at most one marked repeat`, async (test) => {
      const { scene, discord, slack, start, arm, say, settle } = await openEverywhere(test)
      await start(point)
      await settle('first')
      arm()
      say('second')
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await start()
      await settle('third')
      const { inbox } = await scene.finish()
      const answers = ['to first', 'to second', 'to third']
      expect([discord.texts(), slack.texts()]).toEqual([answers, answers])
      const [repeats, plain] = [true, false].map((marked) =>
        scene.texts(ADA).filter((text) => text.startsWith('(repeat) ') === marked),
      )
      expect(repeats?.length).toBeLessThanOrEqual(1)
      expect(new Set([...(plain ?? []), ...(repeats ?? []).map((text) => text.slice('(repeat) '.length))])).toEqual(
        new Set(answers),
      )
      expect(plain).toEqual([...new Set(plain)])
      expect(inbox.map(({ outcome }) => outcome)).toEqual(Array(9).fill('answered'))
    })
  }

  for (const _ of rounds([1])) {
    it(`F-A18: ${KILLS} kills at any time under traffic on all three: none lost, none answered twice unmarked`, async (test) => {
      const { scene, start, say, settle } = await openEverywhere(test)
      await start()
      await settle('first')
      let said = 0
      const traffic = setInterval(() => said < MOST_SAID && say(`message-${said++}`), EVERY_MS)
      for (let kill = 0; kill < KILLS; kill++) {
        await pause(Math.random() * 600)
        expect(await scene.daemon.kill()).toEqual(KILLED)
        await start()
      }
      clearInterval(traffic)
      await settle('last')
      const { inbox } = await scene.finish()
      expect(inbox).toHaveLength(3 * (said + 2))
      expect(inbox.filter(({ outcome }) => outcome !== 'answered' && outcome !== 'quarantined')).toEqual([])
    })
  }
})
