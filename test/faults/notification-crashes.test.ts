import { describe, expect, it } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import type { FailpointSpec } from './kill-switch.ts'
import { discordPlace, type OtherPlace, slackPlace, startAll } from './other-platforms.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'

/** Says it by one name, as the command does, and returns the outcome; undefined where the daemon was killed meanwhile. */
async function notify({ socketPath }: Scene, to: string): Promise<string | undefined> {
  const daemon = await connectLocal(socketPath)
  if (daemon === undefined) throw new Error('no daemon runs')
  const wanted = { to, text: 'Backup done', id: 'nightly' }
  return daemon.notifications.send(wanted).then(
    ({ status }) => status,
    () => undefined,
  )
}

const CASES: readonly { readonly point: FailpointSpec; readonly what: string }[] = [
  { point: 'CP10-outbox-planned', what: 'queued, nothing sent' },
  { point: 'CP13-response-read', what: 'sent, nothing recorded' },
]

describe.concurrent('T43: a kill while a script says something', CASE, () => {
  const [queued] = CASES
  for (const { point, what } of rounds(queued === undefined ? [] : [queued])) {
    it(`${what} (${point}): a repeat by the same name is the same, and it is said once`, async (test) => {
      const scene = await startScene(test)
      scene.telegram.world.say({ from: ADA, text: 'hello' })
      await scene.daemon.start()
      await scene.sent('hello')
      await scene.daemon.kill()
      await scene.daemon.start(point)
      const first = notify(scene, `telegram:direct:${ADA}`)
      expect(await scene.daemon.exited()).toEqual(KILLED)
      expect(await first).toBeUndefined()
      await scene.daemon.start()
      expect(await notify(scene, `telegram:direct:${ADA}`)).toBe('delivered')
      await scene.settle([ADA])
      await scene.finish()
      expect(scene.texts(ADA).filter((text) => text.includes('Backup'))).toEqual(['Backup done'])
    })
  }
})

const PLACES: readonly (readonly [string, () => Promise<OtherPlace>])[] = [
  ['Discord', () => discordPlace()],
  ['Slack', () => slackPlace()],
]

describe.concurrent('T43: a kill while a script says something on', CASE, () => {
  for (const [platform, open] of PLACES)
    for (const { point, what } of rounds(CASES, 2)) {
      it(`${platform}, ${what} (${point}): it is said once`, async (test) => {
        const place = await open()
        test.onTestFinished(() => place.close())
        const scene = await startScene(test, { others: [place] })
        await startAll(scene, [place], point)
        const first = notify(scene, place.address)
        expect(await scene.daemon.exited()).toEqual(KILLED)
        expect(await first).toBeUndefined()
        await startAll(scene, [place])
        expect(await notify(scene, place.address)).toBe('delivered')
        await scene.finish()
        expect(place.texts().filter((text) => text.includes('Backup'))).toEqual(['Backup done'])
      })
    }
})
