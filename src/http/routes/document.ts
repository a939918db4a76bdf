import { readFile } from 'node:fs/promises'
import { createRoute, z } from '@hono/zod-openapi'
import { builtFile } from '../../platform/run-child.ts'
import type { DocsPage } from '../docs-page.ts'
import type { ApiDocument } from '../document.ts'
import { answersWith, needsToken, newRoutes } from '../route.ts'
import { document } from '../schemas/document.ts'

const DOCUMENT = createRoute({
  operationId: 'document.load',
  summary: 'This document',
  method: 'get',
  path: '/v1/openapi.json',
  security: needsToken,
  responses: answersWith(document),
})
/** It is open: a browser has no way to bring a token, and what it shows is in the sources of Parley. */
const PAGE = createRoute({
  operationId: 'document.page',
  summary: 'This document as a page to read',
  method: 'get',
  path: '/v1/docs',
  security: [],
  responses: { 200: { description: 'OK', content: { 'text/html': { schema: z.string() } } } },
})

/** Serves the document of the API, which the build has made, and a page of it. */
export function documentRoutes() {
  // Anybody may ask for the page, as often as they like.
  let page: Promise<DocsPage> | undefined
  const kept = async (): Promise<DocsPage> => {
    page ??= makePage()
    try {
      return await page
    } catch (error) {
      page = undefined
      throw error
    }
  }
  return newRoutes()
    .openapi(DOCUMENT, async ({ json }) => json(await readDocument(), 200))
    .openapi(PAGE, async ({ html }) => {
      const { text, policy } = await kept()
      return html(text, 200, {
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
    })
}

async function makePage(): Promise<DocsPage> {
  const { renderDocs } = await import('../docs-page.ts')
  return renderDocs(await readDocument())
}

async function readDocument(): Promise<ApiDocument & Readonly<Record<string, unknown>>> {
  return JSON.parse(await readFile(builtFile('openapi.json'), 'utf8'))
}
