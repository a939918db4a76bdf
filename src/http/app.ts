import { OpenAPIHono } from '@hono/zod-openapi'
import { ParleyError, toError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { OperatorService } from '../core/operator.ts'
import { errorAnswer } from './errors.ts'
import { admissionRoutes } from './routes/admissions.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { archiveRoutes } from './routes/archives.ts'
import { configRoutes } from './routes/config.ts'
import { forgettingRoutes } from './routes/forgetting.ts'
import { memoryRoutes } from './routes/memory.ts'
import { outboxRoutes } from './routes/outbox.ts'
import { peopleRoutes } from './routes/people.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { statusRoutes } from './routes/status.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { whyRoutes } from './routes/why.ts'

/** The routes with what each is asked and answers, which is the contract of a client. */
export type LocalApp = ReturnType<typeof createApp>

/** Returns the operator's API. The server decides who may call it; every failure is answered with an `ErrorBody`. */
export function createApp(service: OperatorService, logger: Logger) {
  const app = new OpenAPIHono()
  // The router passes on only an Error.
  app.use(async (_context, next) => {
    await next().catch((thrown) => Promise.reject(toError(thrown)))
  })
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
    .route('/', statusRoutes(service))
    .route('/', whyRoutes(service))
    .route('/', sessionRoutes(service))
    .route('/', archiveRoutes(service))
    .route('/', tokenRoutes(service))
    .route('/', scheduleRoutes(service))
    .route('/', peopleRoutes(service))
    .route('/', admissionRoutes(service))
    .route('/', approvalRoutes(service))
    .route('/', outboxRoutes(service))
    .route('/', memoryRoutes(service))
    .route('/', forgettingRoutes(service))
    .route('/', configRoutes(service))
}
