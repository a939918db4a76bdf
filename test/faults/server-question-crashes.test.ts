import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { toolResult } from '../e2e/obedient.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, startScene } from './scene.ts'

const HOSTILE = fileURLToPath(new URL('../mcp/hostile-server.mjs', import.meta.url))
const at = { kind: 'program', command: process.execPath, args: [HOSTILE, 'asks'], env: {} } as const
const mcp = [{ name: 'asker', at, inside: [{ tools: ['*'] }], timeoutMs: 20_000 }]
const properties = { sure: { type: 'boolean' } }
const asks = { questions: [{ message: 'Are you?', requestedSchema: { type: 'object', properties } }] }

const script =
  (name: string, input: object): Script =>
  (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`told: ${result}`)
    const said = lastUserText(request)
    return said.endsWith('begin') ? { blocks: [{ type: 'tool_use', name, input: { ...input } }] } : textReply(said)
  }

const REACTING: readonly { readonly point: FailpointSpec }[] = [
  { point: 'CP7-tool-intent' },
  { point: 'CP8-tool-running' },
  { point: 'CP9-tool-done-uncommitted' },
]

describe.concurrent('a kill', CASE, () => {
  for (const { point } of rounds([{ point: 'CP21-question-asked' as const }], 2)) {
    it(`F-H07: while a tool server asks (${point}): the question is over, the call is not made again`, async (test) => {
      const scene = await startScene(test, { script: script('asker__add', asks), tools: ['mcp.asker'], mcp })
      const { world, ledger } = scene.telegram
      await scene.daemon.start(point)
      const status = async () => (await (await connectLocal(scene.socketPath))?.parts.toolServers())?.[0]?.status
      await expect.poll(status, { timeout: 50_000 }).toBe('up')
      world.say({ from: ADA, text: 'begin' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      const { text: card } = await scene.sent('The tool server')
      expect((await scene.sent('told: ')).text).toContain('interrupted')
      world.say({ from: ADA, text: `/answer ${/\/answer (\w+)/.exec(card)?.[1]} 1` })
      await scene.sent('is over')
      await ledger.nextFromBot('edited', { where: ({ text }) => text.includes('not wanted any more') })
      await scene.settle([ADA])
      await scene.finish()
      expect(scene.texts(ADA).filter((text) => text.includes('The tool server'))).toHaveLength(1)
    })
  }

  for (const { point } of rounds(REACTING, 2)) {
    it(`S7: around an emoji (${point}): it stands there once, and the model is told`, async (test) => {
      const scene = await startScene(test, { script: script('react', { emoji: '👍' }), tools: ['react'] })
      const { world } = scene.telegram
      await scene.daemon.start(point)
      const { message_id: id } = world.say({ from: ADA, text: 'begin' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      expect((await scene.sent('told: ')).text).toContain('stands there')
      const stands =
        world
          .messages(ADA)
          .find(({ message }) => message.message_id === id)
          ?.reactions.values() ?? []
      expect([...stands]).toEqual(['👍'])
      await scene.settle([ADA])
      await scene.finish()
    })
  }
})
