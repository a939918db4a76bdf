import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { discordPlace, slackPlace, startAll } from './other-platforms.ts'
import { ADA, startScene } from './scene.ts'

/** Real time: a stopped process finds all its timers late at once, as one with a blocked loop does. */
const BLOCKED_MS = 5_000

describe('a process that does nothing for 5 s', { timeout: 40_000 }, () => {
  it('F-D07: stays connected to all platforms, and each turn under way is answered once', async (test) => {
    const gate = createGate()
    const script: Script = (request) => {
      const text = lastUserText(request)
      return textReply(`to ${text}`, text.includes('slow') ? { holds: [{ beforeDelta: 0, gate }] } : {})
    }
    const [discord, slack] = [await discordPlace({}, 'direct'), await slackPlace()]
    const others = [discord, slack]
    test.onTestFinished(async () => {
      for (const place of others) await place.close()
    })
    const scene = await startScene(test, { script, others, streaming: true })
    const { telegram, daemon } = scene
    const say = (text: string): void => {
      telegram.world.say({ from: ADA, text })
      for (const place of others) place.say(text)
    }
    const sent = (text: string) => Promise.all([scene.sent(text), ...others.map((place) => place.sent(text))])
    await startAll(scene, others)
    say('hello')
    await sent('to hello')
    telegram.world.say({ from: ADA, text: 'slow' })
    // From here on the package counts the time since the last pong.
    await Promise.all([gate.reached, slack.pinged()])

    daemon.signal('SIGSTOP')
    for (const place of others) place.say('during')
    await pause(BLOCKED_MS)
    gate.release()
    daemon.signal('SIGCONT')
    await Promise.all(others.map((place) => place.sent('to during')))
    await scene.sent('to slow')
    say('after')
    await sent('to after')

    expect(others.map((place) => place.connections())).toEqual([1, 1])
    expect(daemon.logTail()).not.toMatch(/"level":"(warn|error)"/)
    expect(daemon.logTail().match(/ is up\./g)).toHaveLength(3)
    const words = [...Array(3).fill('hello'), 'slow', ...Array(2).fill('during'), ...Array(3).fill('after')]
    expect(scene.anthropic.ledger.requests().map(lastUserText)).toEqual(words)
    await scene.finish()
  })
})
