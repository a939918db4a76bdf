import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { discordPlace, slackPlace, startAll } from './other-platforms.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

/** Sends a file for `first`, then says so. */
const script: Script = ({ messages }) => {
  const said = lastUserText({ messages } as never)
  const content = messages.at(-1)?.content ?? ''
  const told = typeof content !== 'string' && content.some(({ type }) => type === 'tool_result')
  if (told) return textReply('first answer')
  if (!said.endsWith('first')) return textReply('second answer')
  const input = { name: 'notes.md', text: 'what is to be done', caption: 'the notes' }
  return { blocks: [{ type: 'tool_use', name: 'send_file', input }] }
}

/** The file is the first thing that is sent. */
const BEFORE: readonly FailpointSpec[] = [
  'CP7-tool-intent',
  'CP10-outbox-planned',
  'CP11-sending-committed',
  'CP9-tool-done-uncommitted',
]
const IN_THE_SEND: readonly FailpointSpec[] = ['CP12-bytes-written', 'CP13-response-read']

describe.concurrent('a kill around a file that the agent sends', CASE, () => {
  for (const [point, copies] of rounds(
    [
      ...BEFORE.map((point) => [point, [1]] as const),
      ['CP12-bytes-written', [1, 2]],
      ['CP13-response-read', [2]],
    ] as const,
    3,
  )) {
    it(`F-A14: Telegram (${point}): it is sent, and a copy of a send that was lost carries the mark`, async (test) => {
      const scene = await startScene(test, { script })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'first' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      scene.telegram.world.say({ from: ADA, text: 'next' })
      await scene.sent('second answer')
      await scene.finish()
      const files = scene.telegram.world.messages(ADA, { by: 'bot' }).filter(({ message }) => message.document)
      expect(copies).toContain(files.length)
      expect(files.map(({ message }) => message.caption?.replace('(repeat) ', ''))).toEqual(
        files.map(() => 'the notes'),
      )
      expect(files.filter(({ message }) => message.caption === 'the notes').length).toBeLessThanOrEqual(1)
      expect(scene.texts(ADA).slice(files.length)).toEqual(['first answer', 'second answer'])
    })
  }

  const ways = [
    ...[...BEFORE, ...IN_THE_SEND].map((point) => ({ name: 'Discord', point, open: () => discordPlace() })),
    ...[...BEFORE, 'CP31-file-uploaded', ...IN_THE_SEND].map((point) => ({
      ...{ name: 'Slack', point: point as FailpointSpec, open: () => slackPlace() },
    })),
  ]
  for (const { name, point, open } of rounds(ways, 8)) {
    it(`F-A12: ${name} (${point}): it is there exactly once`, async (test) => {
      const place = await open()
      test.onTestFinished(() => place.close())
      const scene = await startScene(test, { script, others: [place] })
      await startAll(scene, [place], point)
      place.say('first')
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await startAll(scene, [place])
      place.say('next')
      await place.sent('second answer')
      await scene.finish()
      expect(place.texts()).toEqual(['the notes', 'first answer', 'second answer'])
    })
  }
})
