import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { png } from '../fakes/files.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { discordPlace, slackPlace, startAll } from './other-platforms.ts'
import { CASE, rounds } from './rounds.ts'
import { KILLED, startScene } from './scene.ts'

const FILES = { 'one.txt': Buffer.from('the plan'), 'two.txt': Buffer.from('the bill'), 'three.png': png(4, 3) }

/** Says which of the three files it was shown with the question. */
const script: Script = (request) => {
  const text = lastUserText(request)
  if (/(?:before|next)$/.test(text)) return textReply(text.endsWith('next') ? 'second answer' : 'an earlier answer')
  const shown = JSON.stringify(request.messages)
  const wanted = ['> the plan', '> the bill', '"type":"image"']
  return textReply(`first answer to ${wanted.filter((one) => shown.includes(one)).length} files`)
}

const POINTS: readonly FailpointSpec[] = [
  'CP4-claimed:2',
  'CP29-files-fetched',
  'CP30-files-recorded',
  'CP6-model-answer-uncommitted:2',
  'CP10-outbox-planned:2',
  'CP11-sending-committed:2',
  'CP12-bytes-written:2',
]

/** A mention on Slack is two events. */
const WAYS = [
  // The gateway repeats nothing: what was not stored is read back behind what was read there before.
  { name: 'Discord', open: () => discordPlace(), received: 3, stored: 2 },
  { name: 'Discord, a direct chat', open: () => discordPlace({}, 'direct'), received: 3, stored: 2 },
  { name: 'Slack', open: () => slackPlace(), received: 2, stored: 2 },
  { name: 'Slack, a mention', open: () => slackPlace({}, 'thread'), received: 3, stored: 3 },
]

const pointsOf = ({ received, stored }: (typeof WAYS)[number]): readonly FailpointSpec[] => [
  `CP1-received:${received}`,
  `CP2-committed:${stored}`,
  `CP3-acked:${stored}`,
  ...POINTS,
]

describe.concurrent('a kill on the way of a message with files beside Telegram', CASE, () => {
  const cases = WAYS.flatMap((way) => pointsOf(way).map((point) => ({ ...way, point })))
  for (const { name, open, point } of rounds(cases, 7)) {
    it(`F-G07: ${name} (${point}): it is answered once, with all of its files`, async (test) => {
      const place = await open()
      test.onTestFinished(() => place.close())
      const scene = await startScene(test, { script, others: [place] })
      await startAll(scene, [place], point)
      place.say('before')
      await place.sent('an earlier answer')
      place.say('first', FILES)
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await startAll(scene, [place])
      await place.sent('first answer')
      place.say('next')
      await place.sent('second answer')
      await scene.finish()
      expect(place.texts()).toEqual(['an earlier answer', 'first answer to 3 files', 'second answer'])
    })
  }
})
