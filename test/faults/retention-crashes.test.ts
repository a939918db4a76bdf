import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { CASE } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'

const CANARY = 'zq9canary-4711'
const DAY = 86_400_000
/** More events than go in one transaction. */
const MESSAGES = 26
const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

function holding({ socketPath }: Scene): readonly string[] {
  const folder = dirname(socketPath)
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name)
    return statSync(path).isFile() && readFileSync(path).includes(CANARY)
  })
}

async function retention({ socketPath }: Scene) {
  const daemon = await connectLocal(socketPath)
  if (daemon === undefined) throw new Error('no daemon runs')
  return daemon.forgetting.runRetention()
}

/** Everything that was said lies twenty days back. */
function age({ socketPath }: Scene): void {
  withDatabase(join(dirname(socketPath), 'parley.db'), (database) => {
    database.prepare('UPDATE events SET at = at - ?').run(20 * DAY)
    const since = "json_set(dispatch, '$.receivedAt', json_extract(dispatch, '$.receivedAt') - ?)"
    database.prepare(`UPDATE inbox SET dispatch = ${since}`).run(20 * DAY)
  })
}

describe('a kill while an age limit is applied', CASE, () => {
  it('S41: the next start leaves no byte of what was emptied, and the next round takes the rest', async (test) => {
    const scene = await startScene(test, { script, config: { retention: { days: 10, rules: [] } } })
    await scene.daemon.start()
    for (let no = 0; no < MESSAGES; no++) {
      scene.telegram.world.say({ from: ADA, text: no < MESSAGES / 2 ? `${no}: my code is ${CANARY}` : `${no}: hello` })
      await scene.sent(`heard ${no}:`)
    }
    await scene.daemon.terminate()
    age(scene)
    await scene.daemon.start('CP46-retention-emptied')
    await expect(retention(scene)).rejects.toThrow()
    expect(await scene.daemon.exited()).toEqual(KILLED)
    expect(holding(scene)).not.toEqual([])
    await scene.daemon.start()
    await expect.poll(() => holding(scene), { timeout: 50_000 }).toEqual([])
    expect(await retention(scene)).toMatchObject([{ events: 0 }])
    scene.telegram.world.say({ from: ADA, text: 'and now?' })
    await scene.sent('heard and now?')
    expect(JSON.stringify(scene.anthropic.ledger.requests().at(-1)?.messages)).not.toContain('hello')
  })
})
