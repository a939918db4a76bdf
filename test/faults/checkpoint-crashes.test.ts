import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type ReplyBlock, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { toolResult } from '../e2e/obedient.ts'
import { household } from '../fakes/routing-policy.ts'
import { withDatabase } from '../store/temp-database.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'

const SAVE: ReplyBlock = { type: 'tool_use', name: 'memory_save', input: { text: 'Ada likes tea.', lines: [1] } }
const NOTE: ReplyBlock = { type: 'tool_use', name: 'working_memory', input: { text: 'Ada waits for tea.' } }

/** A checkpoint saves one entry and a working memory; everything else is answered with its number. */
const script: Script = (request) => {
  if (!JSON.stringify(request.system ?? '').includes('You keep the memory'))
    return textReply(`answer to ${lastUserText(request).split('\n').at(-1)}`)
  return toolResult(request) === undefined ? { blocks: [SAVE, NOTE] } : textReply('done')
}

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'You are Parley.', tools: ['memory'] }]

function sceneOf(test: Parameters<typeof startScene>[0], turns: number): Promise<Scene> {
  const checkpoint = { turns, quietGroupMessages: 100, idleMinutes: 1_000 }
  return startScene(test, {
    script,
    routing: household(),
    config: { agents, session: { queue: { max: 100, busy: 'queue' }, checkpoint } },
  })
}

async function say(scene: Scene, text: string): Promise<void> {
  scene.telegram.world.say({ from: ADA, text })
  await scene.sent(`answer to ${text}`)
}

async function remembered({ socketPath }: Scene): Promise<readonly string[]> {
  const operator = await connectLocal(socketPath)
  return ((await operator?.memory.list({})) ?? []).map(({ text }) => text)
}

/** Stops the daemon and returns what is stored of its checkpoints. */
async function outcomeOf(scene: Scene) {
  await scene.finish()
  return withDatabase(join(dirname(scene.socketPath), 'parley.db'), (database) => ({
    entries: database.prepare('SELECT text FROM memory_entries').all(),
    written: database.prepare("SELECT data FROM events WHERE type = 'checkpoint_written'").all(),
    owed: database.prepare('SELECT * FROM checkpoints').all(),
  }))
}

const WAYS = ['turn_limit', 'new_session', 'manual'] as const
const POINTS = ['CP26-checkpoint-owed', 'CP27-checkpoint-uncommitted', 'CP28-checkpoint-committed'] as const
/** At `/new` it is owed in the commit that ends the session, at `/checkpoint` by the row of the command. */
const CASES = WAYS.flatMap((way) => POINTS.map((point) => [way, point] as const)).filter(
  ([way, point]) => way === 'turn_limit' || point !== 'CP26-checkpoint-owed',
)

describe.concurrent('a kill in a checkpoint', CASE, () => {
  for (const [way, point] of rounds(CASES, 3)) {
    it(`S34, S35: by ${way} at ${point}: it is made once, and its writes are there once`, async (test) => {
      const scene = await sceneOf(test, way === 'turn_limit' ? 2 : 100)
      await scene.daemon.start(point)
      await say(scene, 'one')
      scene.telegram.world.say({
        from: ADA,
        text: { turn_limit: 'two', new_session: '/new', manual: '/checkpoint' }[way],
      })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      if (way === 'manual')
        await scene.sent(point === 'CP28-checkpoint-committed' ? 'There is nothing new' : 'Done: 1 new')
      if (way === 'new_session') await scene.sent('fresh')
      await vi.waitFor(async () => expect(await remembered(scene)).toEqual(['Ada likes tea.']), POLL)
      await say(scene, 'and now?')
      const { entries, written, owed } = await outcomeOf(scene)
      expect(entries).toEqual([{ text: 'Ada likes tea.' }])
      expect(written).toHaveLength(1)
      expect(owed).toEqual([])
    })
  }
})

const POLL = { timeout: 50_000, interval: 50 }
