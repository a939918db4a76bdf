import { describe, expect, it } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import type { ConfiguredSchedule } from '../../src/core/schedule.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { discordPlace, slackPlace, startAll } from './other-platforms.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'

const FAMILY = -1001000000001

/** Due once a year: what runs here is asked for. */
function morning(deliverTo: string): ConfiguredSchedule {
  return {
    id: toScheduleId('morning'),
    definition: {
      cron: '0 0 1 1 *',
      timezone: 'UTC',
      prompt: 'Say good morning',
      deliverTo: parseAddress(deliverTo),
      missed: { kind: 'once' },
      overlap: 'skip',
    },
  }
}

const script: Script = (request) => textReply(lastUserText(request).endsWith('goodbye') ? 'goodbye' : 'Good morning!')

const CASES: readonly { readonly point: FailpointSpec; readonly what: string; readonly copies: readonly number[] }[] = [
  { point: 'CP15-slot-claimed', what: 'the slot claimed, nothing handed on', copies: [1] },
  { point: 'CP4-claimed', what: 'the turn claimed', copies: [1] },
  { point: 'CP6-model-answer-uncommitted', what: 'the model answered, nothing of it stored', copies: [1] },
  { point: 'CP10-outbox-planned', what: 'the text planned', copies: [1] },
  { point: 'CP11-sending-committed', what: 'the send begun, no byte out', copies: [0] },
  { point: 'CP12-bytes-written', what: 'the bytes out, no answer read', copies: [0, 1] },
  { point: 'CP13-response-read', what: 'the answer read, not stored', copies: [1] },
]

/** Where the platforms differ. */
const AROUND_THE_SEND = /^CP1[1235]/

/** Whoever asks may find that the daemon died over it. */
async function runNow({ socketPath }: Scene): Promise<void> {
  const operator = await connectLocal(socketPath).catch(() => undefined)
  await operator?.schedules.run('morning').catch(() => {})
}

describe.concurrent('F-E08: a kill in the run of a schedule', CASE, () => {
  for (const { point, what, copies } of rounds(CASES, 4)) {
    it(`${what} (${point}): one run, and what may be out already is not sent again`, async (test) => {
      const scene = await startScene(test, { script, schedules: [morning(`telegram:group:${FAMILY}`)] })
      scene.telegram.world.addChat({ type: 'supergroup', title: 'Family', id: FAMILY, members: [ADA] })
      await scene.daemon.start(point)
      await runNow(scene)
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      if (copies.every((many) => many > 0)) await scene.sent('Good morning!')
      await scene.settle([ADA])
      const { turns } = await scene.finish()
      expect(copies).toContain(scene.texts(FAMILY).length)
      expect(turns.filter(({ session_id }) => session_id === 'schedule:morning')).toHaveLength(1)
    })
  }

  for (const [name, open] of [
    ['Discord', discordPlace],
    ['Slack', slackPlace],
  ] as const) {
    for (const { point, what } of rounds(
      CASES.filter(({ point }) => AROUND_THE_SEND.test(point)),
      4,
    )) {
      it(`${name}: ${what} (${point}): one run, and exactly one message`, async (test) => {
        const place = await open()
        test.onTestFinished(() => place.close())
        const scene = await startScene(test, { script, schedules: [morning(place.address)], others: [place] })
        await startAll(scene, [place], point)
        await runNow(scene)
        expect(await scene.daemon.exited()).toEqual(KILLED)
        await startAll(scene, [place])
        await place.sent('Good morning!')
        place.say('goodbye')
        await place.sent('goodbye')
        const { turns } = await scene.finish()
        // The answer may be in another chat than the digest, and the chats come in an order of their own.
        expect(place.texts().toSorted()).toEqual(['Good morning!', 'goodbye'])
        expect(turns.filter(({ session_id }) => session_id === 'schedule:morning')).toHaveLength(1)
      })
    }
  }
})
