import { OpenAPIHono } from '@hono/zod-openapi'
import type { Clock } from '../core/clock.ts'
import { toError } from '../core/errors.ts'
import type { KeyedRequests } from '../core/keyed-request.ts'
import type { Logger } from '../core/logger.ts'
import { answerAt, noSuchPath } from './chat-errors.ts'
import { createQueryCheck } from './check-query.ts'
import { createCors } from './cors.ts'
import { type ApiGuard, createGate } from './gate.ts'
import { createIdempotency } from './idempotency.ts'
import { createRecorder } from './record-changes.ts'
import type { ApiEnv } from './route.ts'
import { admissionRoutes } from './routes/admissions.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { archiveRoutes } from './routes/archives.ts'
import { chatRoutes } from './routes/chat.ts'
import { configRoutes } from './routes/config.ts'
import { documentRoutes } from './routes/document.ts'
import { eventRoutes } from './routes/events.ts'
import { forgettingRoutes } from './routes/forgetting.ts'
import { healthRoutes } from './routes/health.ts'
import { hookRoutes } from './routes/hooks.ts'
import { memoryRoutes } from './routes/memory.ts'
import { nodeRoutes } from './routes/nodes.ts'
import { notificationRoutes, outboxRoutes } from './routes/outbox.ts'
import { partRoutes } from './routes/parts.ts'
import { peopleRoutes } from './routes/people.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { sessionOperationRoutes } from './routes/session-operations.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { statusRoutes } from './routes/status.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { whyRoutes } from './routes/why.ts'

export interface AppDeps {
  readonly guard: ApiGuard
  readonly requests?: KeyedRequests | undefined
  readonly logger: Logger
  readonly clock?: Clock | undefined
}

/** Returns the API. `guard` decides who may call it; every failure is answered with an `ErrorBody`. */
export function createApp({ guard, requests, logger, clock }: AppDeps): OpenAPIHono<ApiEnv> {
  const routes = createRoutes(clock)
  const app = new OpenAPIHono<ApiEnv>()
  // The router passes on only an Error.
  app.use(async (_context, next) => {
    await next().catch((thrown) => Promise.reject(toError(thrown)))
  })
  app.notFound(({ req, json }) => {
    const { status, body, headers } = answerAt(req.path, noSuchPath(req))
    return json(body, status, headers)
  })
  app.onError((error, { req, json }) => {
    const { status, body, headers } = answerAt(req.path, error)
    if (body.error.code === 'internal') logger.error('A local request failed', { path: req.path, err: error })
    return json(body, status, headers)
  })
  app.use(createCors(guard))
  app.use(createGate(routes, guard))
  app.use(createQueryCheck(routes))
  app.use(createRecorder(logger))
  app.use(createIdempotency(requests))
  return app.route('/', routes)
}

/** Returns all routes, without the gate. */
export function createRoutes(clock?: Clock) {
  return new OpenAPIHono<ApiEnv>()
    .route('/', statusRoutes())
    .route('/', whyRoutes())
    .route('/', sessionRoutes())
    .route('/', sessionOperationRoutes())
    .route('/', archiveRoutes())
    .route('/', eventRoutes())
    .route('/', tokenRoutes())
    .route('/', scheduleRoutes())
    .route('/', notificationRoutes())
    .route('/', peopleRoutes())
    .route('/', admissionRoutes())
    .route('/', approvalRoutes())
    .route('/', outboxRoutes())
    .route('/', memoryRoutes())
    .route('/', forgettingRoutes())
    .route('/', configRoutes())
    .route('/', chatRoutes(clock))
    .route('/', documentRoutes())
    .route('/', hookRoutes())
    .route('/', nodeRoutes())
    .route('/', healthRoutes())
    .route('/', partRoutes())
}
