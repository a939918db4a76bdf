import type { Config, HookSettings } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import { DOORS } from '../core/doors.ts'
import { ParleyError } from '../core/errors.ts'
import type { ExternalRuns } from '../core/external-run.ts'
import type { Hook } from '../core/hook.ts'
import type { Logger } from '../core/logger.ts'
import type { InboundHooks } from '../core/operate-hooks.ts'
import { createHooks, type Hooks } from '../hooks/hooks.ts'
import { createInboundHooks } from '../hooks/receive-call.ts'
import type { Store } from '../store/store.ts'
import { createDoor, type Door, type DoorDeps } from '../web/door.ts'
import { textRedactor } from './text-redactor.ts'

export interface HookParts {
  readonly config: Pick<Config, 'hooks' | 'secrets'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Returns the configured hooks; those at an address are called through the door. */
export function makeHooks(
  { config, clock, logger }: HookParts,
  openDoor: (deps: DoorDeps) => Door = createDoor,
): Hooks {
  const hooks = (config.hooks ?? []).map(revealed)
  const withinMs = Math.max(1, ...hooks.map(({ timeoutMs }) => timeoutMs))
  const door = openDoor({ clock, withinMs, most: DOORS.hookAnswer.bytes })
  return createHooks(hooks, {
    ...{ clock, redact: textRedactor(config), logger: logger.child({ subsystem: 'hooks' }) },
    async post({ url }, { body, headers, signal }) {
      // Behind a redirect the call would be asked for, without its body and its signature.
      const request = { method: 'POST', body, headers, signal, configured: true, follow: false } as const
      const answer = await door.ask(url, request)
      if (answer.kind === 'redirect') throw new ParleyError('forbidden', `it redirects to ${answer.to.host}`)
      if (answer.cut) throw new ParleyError('too_long', 'its answer is too long')
      if (answer.status < 200 || answer.status > 299)
        throw new ParleyError('unavailable', `it answered with status ${answer.status}`)
      return Buffer.from(answer.bytes).toString('utf8')
    },
  })
}

/** Returns the hooks by which programs call in. */
export function makeInboundHooks(
  { http }: Pick<Config, 'http'>,
  parts: { readonly runs: ExternalRuns; readonly store: Store; readonly clock: Clock; readonly logger: Logger },
): InboundHooks {
  const hooks = (http?.hooks ?? []).map(({ secret, ...hook }) => ({ ...hook, secret: secret.reveal() }))
  const logger = parts.logger.child({ subsystem: 'hooks' })
  return createInboundHooks({ ...parts, logger, hooks })
}

function revealed({ at, ...hook }: HookSettings): Hook {
  if (at.kind === 'address') return { ...hook, at: { ...at, secret: at.secret.reveal() } }
  const env = Object.entries(at.env).map(([name, value]) => [name, value.reveal()])
  return { ...hook, at: { ...at, env: Object.fromEntries(env) } }
}
