import { createRoute, z } from '@hono/zod-openapi'
import { EXPORT_FORMATS } from '../../core/export-format.ts'
import { isMediaId } from '../../core/ids.ts'
import {
  answersWith,
  bodyText,
  jsonBody,
  needs,
  newRoutes,
  pathText,
  queryCount,
  queryFlag,
  queryText,
  takes,
} from '../route.ts'
import { archivedFile, archivePage, exportRecorded, relocation } from '../schemas/archives.ts'

const AT = '/v1/archives/{name}'
const params = z.object({ name: pathText })

const PAGE = createRoute({
  operationId: 'archive.page',
  summary: 'A session with its log, page by page, as it is exported',
  method: 'get',
  path: AT,
  security: needs('operate:read'),
  request: {
    params,
    query: z.object({ after: queryCount.prefault('0'), limit: queryCount.prefault('200'), opaque: queryFlag }),
  },
  responses: answersWith(archivePage),
})
const FILE = createRoute({
  operationId: 'archive.file',
  summary: 'A file of a session, in base64',
  method: 'get',
  path: `${AT}/files`,
  security: needs('operate:read'),
  request: { params, query: z.object({ media: queryText.refine(isMediaId, 'must be the handle of a file') }) },
  responses: answersWith(archivedFile),
})
const EXPORTED = createRoute({
  operationId: 'archive.exported',
  summary: 'Records that a session was exported',
  method: 'post',
  path: `${AT}/exported`,
  security: needs('operate:write'),
  middleware: jsonBody,
  request: {
    params,
    body: takes(
      z.strictObject({
        format: z.enum([...EXPORT_FORMATS, 'bundle'], `must be ${EXPORT_FORMATS.join(', ')} or bundle`),
        path: bodyText.optional(),
      }),
    ),
  },
  responses: answersWith(exportRecorded),
})

const RELOCATE = createRoute({
  operationId: 'archive.relocate',
  summary: 'Continues a session in another conversation, or in both',
  method: 'post',
  path: `${AT}/relocate`,
  security: needs('operate:write'),
  middleware: jsonBody,
  request: {
    params,
    body: takes(
      z.strictObject({
        kind: z.enum(['move', 'fork'], 'must be move or fork'),
        to: bodyText,
        confirmed: z.boolean('must be true or false').optional(),
      }),
    ),
  },
  responses: answersWith(relocation),
})

/** Serves sessions as they are exported, and each by its name, percent-encoded. */
export function archiveRoutes() {
  return newRoutes()
    .openapi(PAGE, async ({ req, json, var: { api } }) =>
      json(await api.archives.page(req.valid('param').name, req.valid('query')), 200),
    )
    .openapi(FILE, async ({ req, json, var: { api } }) =>
      json(await api.archives.file(req.valid('param').name, req.valid('query').media), 200),
    )
    .openapi(EXPORTED, async ({ req, json, var: { api } }) => {
      const { format, path } = req.valid('json')
      await api.archives.exported(req.valid('param').name, { format, ...(path === undefined ? {} : { path }) })
      return json({ recorded: true }, 200)
    })
    .openapi(RELOCATE, async ({ req, json, var: { api, once } }) =>
      json(await api.archives.relocate(req.valid('param').name, { ...req.valid('json'), once }), 200),
    )
}
