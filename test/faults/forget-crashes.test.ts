import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { toolResult } from '../e2e/obedient.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, startScene } from './scene.ts'

const CANARY = 'zq9canary-4711'
const digest = hash('sha256', CANARY)
const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

const POINTS: readonly { readonly point: FailpointSpec; readonly what: string }[] = [
  { point: 'CP40-forget-uncommitted', what: 'nothing is removed yet' },
  { point: 'CP41-forget-begun', what: 'the logs are emptied, and nothing else' },
  { point: 'CP20-exchange-taken-back', what: 'the deletion of the answer is planned' },
  { point: 'CP42-forget-emptied', what: 'every row is emptied, the bytes are there' },
  { point: 'CP43-forget-scrubbed', what: 'no byte is left, and nobody was told' },
]

/** The files of the daemon that hold the canary; those of the test itself do not count. */
function holding(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name)
    return statSync(path).isFile() && readFileSync(path).includes(CANARY)
  })
}

describe.concurrent('a kill while something is forgotten', CASE, () => {
  for (const { point, what } of rounds(POINTS, 2)) {
    it(`S41: ${what} (${point}): the next start goes on, and no byte of it is left; the answer comes once`, async (test) => {
      const scene = await startScene(test, { script })
      await scene.daemon.start(point)
      for (const text of ['the weather is fine', `my code is ${CANARY}`]) {
        scene.telegram.world.say({ from: ADA, text })
        await scene.sent(`heard ${text}`)
      }
      scene.telegram.world.say({ from: ADA, text: '/forget last' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('Forgotten: ')
      await scene.settle([ADA])
      expect(holding(dirname(scene.socketPath))).toEqual([])
      const told = scene.texts(ADA).filter((text) => text.startsWith('Forgotten: '))
      expect(told).toEqual([expect.stringContaining('Answers to it are being deleted in the chat: 1.')])
      expect(scene.texts(ADA)).toContain('heard the weather is fine')
      const prompt = JSON.stringify(scene.anthropic.ledger.requests().at(-1)?.messages)
      expect(prompt).toContain('the weather is fine')
      expect(prompt).not.toContain(CANARY)
      await scene.finish()
    })
  }

  for (const { point, what } of rounds(POINTS, 1)) {
    it(`S41: ${what} (${point}): what comes to another bot after the start is not kept there either`, async (test) => {
      const scene = await startScene(test, { script, sage: true })
      const { world, faults } = scene.telegram
      const chat = world.addChat({ type: 'group', title: 'Family', members: [ADA, BOB] }).id
      await scene.daemon.start(point)
      const where = ({ botId }: { readonly botId: number }): boolean => botId === 7_000_002
      const held = faults.add({ method: 'getUpdates', where, action: { kind: 'hold', when: 'before' } })
      world.say({ from: ADA, chat, text: '@sage_bot wait' })
      await held.reached
      world.say({ from: BOB, chat, text: `@parley_bot my code is ${CANARY}` })
      await scene.sent(`my code is ${CANARY}`)
      world.say({ from: BOB, chat, text: '/forget@parley_bot last' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      held.release()
      await scene.daemon.start()
      await scene.sent('Forgotten: ')
      world.say({ from: ADA, chat, text: '@sage_bot and now?' })
      await scene.sent('and now?', { chat })
      expect(JSON.stringify(scene.anthropic.ledger.requests().at(-1)?.messages)).not.toContain(CANARY)
      await test.expect.poll(() => holding(dirname(scene.socketPath)), { timeout: 30_000 }).toEqual([])
      // The numbers of messages, by which the invariants know them, are here of each bot alone.
      expect(await scene.daemon.terminate()).toEqual({ code: 0, signal: null })
    })
  }

  it('S41: nothing is left of a file that the process was fetching when it died', async (test) => {
    const scene = await startScene(test, { script })
    await scene.daemon.start('CP43-forget-scrubbed')
    scene.telegram.world.say({ from: ADA, text: `it is ${CANARY}` })
    await scene.sent(`heard it is ${CANARY}`)
    scene.telegram.world.say({ from: ADA, text: '/forget last' })
    expect(await scene.daemon.exited()).toEqual(KILLED)
    // A process leaves these where it dies in the middle of a write, and before it has named what it kept.
    const media = join(dirname(scene.socketPath), 'media')
    mkdirSync(join(media, digest.slice(0, 2)), { recursive: true })
    writeFileSync(join(media, 'partial-1'), CANARY)
    writeFileSync(join(media, digest.slice(0, 2), digest), CANARY)
    await scene.daemon.start()
    await scene.sent('Forgotten: ')
    expect(holding(dirname(scene.socketPath))).toEqual([])
    await scene.finish()
  })

  it('S41: a turn that ran goes on after the start, and hands nothing on then either', async (test) => {
    const gate = createGate()
    const giving: Script = (request) => {
      const result = toolResult(request)
      if (result !== undefined) return textReply(`result: ${result}`)
      const input = { task: `it is ${CANARY}` }
      return { blocks: [{ type: 'tool_use', name: 'task', input }], holds: [{ beforeDelta: 0, gate }] }
    }
    const scene = await startScene(test, { script: giving })
    await scene.daemon.start('CP41-forget-begun')
    scene.telegram.world.say({ from: ADA, text: `my code is ${CANARY}` })
    await gate.reached
    scene.telegram.world.say({ from: ADA, text: '/forget last' })
    expect(await scene.daemon.exited()).toEqual(KILLED)
    gate.release()
    await scene.daemon.start()
    await scene.sent('being forgotten')
    await test.expect.poll(() => holding(dirname(scene.socketPath)), { timeout: 30_000 }).toEqual([])
    await scene.finish()
  })
})
