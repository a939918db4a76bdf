import type { Readiness } from '../../core/operate-health.ts'
import { either, flag, list, object, oneOf, text } from './shape.ts'

const status = oneOf<Readiness['status']>({ ready: true, starting: true, degraded: true })

/** The answer to a token, and the one to anybody. */
export const readiness = either(
  object<Readiness>(
    {
      status,
      channels: list(object<Readiness['channels'][number]>({ channel: text, account: text, status: text })),
      store: flag,
    },
    'Readiness',
  ),
  object<Pick<Readiness, 'status'>>({ status }),
)
