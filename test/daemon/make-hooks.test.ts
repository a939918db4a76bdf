import { expect, it } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { systemClock } from '../../src/core/clock.ts'
import { makeHooks } from '../../src/daemon/make-hooks.ts'
import type { DoorRequest } from '../../src/web/door.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'

it('R8: a redirect of an address is not followed, which would ask again without the call, and is said in the log', async () => {
  const [asked, logger]: [DoorRequest[], AwaitedLog] = [[], new AwaitedLog()]
  const at = { kind: 'address', url: 'https://hooks.example/in', secret: new Secret('key-of-the-hook') } as const
  const hooks = [{ name: 'archive', on: ['before_tool'], at, timeoutMs: 5_000 }] as const
  const { beforeTool } = makeHooks({ config: { hooks }, clock: systemClock, logger }, () => ({
    async ask(url, request) {
      asked.push(request)
      // What stands behind it answers anything.
      if (request.follow !== false)
        return { kind: 'answer', url: new URL(url), status: 200, headers: {}, bytes: Buffer.from(''), cut: false }
      return { kind: 'redirect', status: 302, url: new URL(url), to: new URL('https://hooks.example/login') }
    },
  }))
  expect(
    await beforeTool({ on: 'before_tool', session: 's', turn: 't', tool: 'pay', args: {} } as never),
  ).toBeUndefined()
  expect(asked).toMatchObject([{ method: 'POST', follow: false }])
  const { fields } = await logger.line('A hook failed; what it was called for goes on')
  expect(String(fields.err)).toContain('it redirects to hooks.example')
})
