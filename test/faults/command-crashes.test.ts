import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { household, owner } from '../fakes/routing-policy.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'
import { asksFor } from './tool-scripts.ts'

const asks = asksFor('probe_beyond')
const script: Script = (request, at) => {
  const said = lastUserText(request).split('\n').at(-1) ?? ''
  return said.startsWith('use') || said.includes('done') ? asks(request, at) : textReply(`heard ${said}`)
}

/** What Ada says, and what it is answered. `$code` is the last code or id that was shown to her. */
type Said = readonly [said: string, answer: RegExp]

interface Case {
  readonly before: readonly Said[]
  readonly command: Said
  /** What shows that it was done. */
  readonly after?: Said
}

const HELLO: Said = ['hello', /^heard hello$/]
const AGAIN: Said = ['again', /^heard again$/]
const TEA: Said = ['/remember tea', /^I will remember: #1 tea$/]
const STRETCH: Said = ['/remind in 5 hours to stretch', /^I remind you here/]
const CARD: Said = ['use your tool', /May I use/]

const CASES: readonly Case[] = [
  { before: [], command: TEA, after: ['/memory', /^#1 tea$/] },
  { before: [TEA], command: ['/memory correct 1 coffee', /^Corrected: #1 coffee$/], after: ['/memory', /^#1 coffee$/] },
  { before: [TEA], command: ['/memory remove 1', /^Removed: #1$/], after: ['/memory', /nothing here yet/] },
  { before: [], command: STRETCH, after: ['/remind list', /^[^\n]*stretch[^\n]*$/] },
  {
    before: [STRETCH],
    command: ['/remind cancel $code', /^Cancelled: \w+\.$/],
    after: ['/remind list', /There is no reminder here/],
  },
  { before: [CARD], command: ['/deny $code', /^Refused: probe_beyond/] },
  {
    before: [CARD, ['/approve $code here', /^Allowed: /]],
    command: ['/approvals forget $code', /^Forgotten: \w+\. I ask again/],
    after: ['/approvals', /^I have asked about nothing that waits for an answer\.$/],
  },
  { before: [HELLO], command: ['/title boats', /^This conversation is called: boats/] },
  { before: [HELLO, AGAIN], command: ['/undo', /^Taken back/], after: ['/undo', /^Taken back/] },
  { before: [HELLO, AGAIN], command: ['/forget last', /^Forgotten: /], after: ['/undo', /^Taken back/] },
  { before: [HELLO, AGAIN], command: ['/forget me yes', /^Forgotten: /], after: ['/undo', /nothing to take back/] },
  { before: [HELLO, AGAIN], command: ['/forget 2h yes', /^Forgotten: /], after: ['/undo', /nothing to take back/] },
  {
    before: [HELLO, ['/new', /fresh/], AGAIN],
    command: ['/resume 2', /^We continue|^That is the conversation in use/],
  },
]

describe.concurrent('a kill between what a command does and its answer', CASE, () => {
  for (const { before, command, after } of rounds(CASES, 4)) {
    it(`F-A14: ${command[0]}: it is done once, and the answer of the next start says so`, async (test) => {
      const scene = await startScene(test, {
        ...{ script, tools: ['memory', 'schedule'] },
        routing: household({ people: [owner('ada', `telegram:${ADA}`)] }),
      })
      const { world, ledger } = scene.telegram
      let code = ''
      const say = ([said, answer]: Said): Promise<void> => {
        const mark = ledger.mark()
        world.say({ from: ADA, text: said.replace('$code', code) })
        return heard(answer, mark)
      }
      const heard = async (answer: RegExp, mark: number): Promise<void> => {
        const { text } = await ledger.nextFromBot('sent', {
          after: mark,
          where: (one) => !/told: |Let me/.test(one.text),
        })
        expect(text).toMatch(answer)
        code = /(?:cancel|approve|forget) (\w+)/.exec(text)?.[1] ?? code
      }
      const commands = before.filter(([said]) => said.startsWith('/')).length
      await scene.daemon.start(`CP47-command-unanswered:${commands + 1}`)
      for (const said of before) await say(said)
      const mark = ledger.mark()
      world.say({ from: ADA, text: command[0].replace('$code', code) })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await heard(command[1], mark)
      if (after) await say(after)
      await scene.settle([ADA])
      await scene.finish()
      const last = command[1]
      expect(scene.texts(ADA).filter((text) => last.test(text)).length).toBeLessThanOrEqual(
        after?.[0] === '/undo' ? 2 : 1,
      )
    })
  }
})
