import { Hono } from 'hono'
import { ParleyError, toError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { OperatorService } from '../core/operator.ts'
import { errorAnswer } from './errors.ts'
import { admissionRoutes } from './routes/admissions.ts'
import { configRoutes } from './routes/config.ts'
import { outboxRoutes } from './routes/outbox.ts'
import { peopleRoutes } from './routes/people.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { statusRoutes } from './routes/status.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { whyRoutes } from './routes/why.ts'

/** Returns the operator's API. The server decides who may call it; every failure is answered with an `ErrorBody`. */
export function createApp(service: OperatorService, logger: Logger): Hono {
  const app = new Hono()
  // The router passes on only an Error.
  app.use(async (_context, next) => {
    await next().catch((thrown) => Promise.reject(toError(thrown)))
  })
  const all = [
    statusRoutes(service),
    whyRoutes(service),
    sessionRoutes(service),
    tokenRoutes(service),
    scheduleRoutes(service),
    peopleRoutes(service),
    admissionRoutes(service),
    outboxRoutes(service),
    configRoutes(service),
  ]
  for (const routes of all) app.route('/', routes)
  app.notFound(({ req, json }) => {
    const { status, body } = errorAnswer(new ParleyError('not_found', `There is no ${req.method} ${req.path}`))
    return json(body, status)
  })
  app.onError((error, { req, json }) => {
    const { status, body } = errorAnswer(error)
    if (body.error.code === 'internal') logger.error('A local request failed', { path: req.path, err: error })
    return json(body, status)
  })
  return app
}
