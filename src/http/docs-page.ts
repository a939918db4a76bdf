import { createHash } from 'node:crypto'
import type { ApiDocument, DocumentedOperation } from './document.ts'

/** A schema as far as the page shows it. */
interface ShownSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, ShownSchema>>
  readonly required?: readonly string[]
  readonly items?: ShownSchema
  readonly additionalProperties?: boolean | ShownSchema
  readonly anyOf?: readonly ShownSchema[]
  readonly oneOf?: readonly ShownSchema[]
}

export interface DocsPage {
  readonly text: string
  /** Lets the page have its own style sheet and nothing else: no script, no other address. */
  readonly policy: string
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; overflow-wrap: anywhere }
nav ul { padding: 0; list-style: none }
nav li { margin: 0.2rem 0 }
article { border-top: 1px solid #8888; padding: 0.5rem 0 }
h3 { font-size: 1rem; margin: 0.5rem 0 }
code { font-size: 0.9em; font-family: ui-monospace, monospace }
ul ul { padding-left: 1.2rem }
.method { font-weight: bold; text-transform: uppercase }
.note { opacity: 0.75 }
`

/** Returns the document as a page to read, which needs no network and runs nothing. */
export function renderDocs(document: ApiDocument): DocsPage {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): ShownOperation => ({ path, method, operation })),
  )
  const { title, description } = document.info
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API</title>
<style>${plain(STYLE)}</style>
</head>
<body>
<h1>${title} API</h1>
<p>${prose(description)}</p>
<p>The same for programs: <a href="openapi.json"><code>GET /v1/openapi.json</code></a>, with a token.</p>
<nav aria-label="Operations"><ul>${operations.map(entry)}</ul></nav>
<main>
<h2>Operations</h2>
${operations.map((one) => article(one, document))}
<h2>Shapes</h2>
${Object.entries(document.components.schemas).map(([name, schema]) => shape(name, schema))}
</main>
</body>
</html>
`
  const digest = createHash('sha256').update(STYLE).digest('base64')
  const nothingElse = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  return { text: page.markup, policy: `${nothingElse}; style-src 'sha256-${digest}'` }
}

interface ShownOperation {
  readonly path: string
  readonly method: string
  readonly operation: DocumentedOperation
}

function entry({ method, path, operation: { operationId } }: ShownOperation): Markup {
  return html`<li><a href="#${operationId}"><code>${operationId}</code></a>
<span class="note"><span class="method">${method}</span> ${path}</span></li>
`
}

function article({ method, path, operation }: ShownOperation, { components }: ApiDocument): Markup {
  const { operationId, summary, parameters = [], requestBody, responses } = operation
  return html`<article id="${operationId}">
<h3><code>${operationId}</code></h3>
<p><code><span class="method">${method}</span> ${path}</code></p>
<p>${prose(summary ?? '')}</p>
<p>${needed(operation)}</p>
${parameters.length === 0 ? '' : html`<p>Parameters</p><ul>${parameters.map(parameter)}</ul>`}
${requestBody === undefined ? '' : html`<p>Body</p>${content(requestBody)}`}
<p>Answers</p>
<ul>${Object.entries(responses).map(
    ([status, answer]) =>
      html`<li>${status}: ${prose((components.responses[status] ?? answer).description ?? '')}${status in components.responses ? '' : content(answer)}</li>`,
  )}</ul>
</article>
`
}

function needed({ security }: DocumentedOperation): Markup {
  const scopes = security?.flatMap((one) => Object.values(one).flat()) ?? []
  if (security?.length === 0) return html`Open to everybody.`
  return scopes.length === 0
    ? html`Needs a token.`
    : html`Needs the scope ${scopes.map((scope) => html`<code>${scope}</code>`)}.`
}

function parameter({
  schema = {},
  ...one
}: NonNullable<DocumentedOperation['parameters']>[number] & { readonly schema?: ShownSchema }): Markup {
  return html`<li><code>${one.name}</code> <span class="note">in ${one.in},${one.required ? '' : ' optional'}</span>
${typeOf(schema)}</li>`
}

/** A sentence in which code stands between backticks. */
function prose(text: string): readonly Markup[] {
  return text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))
}

/** The shape of a body or an answer, which is of one media type. */
function content(of: object): Markup {
  const [[type, { schema = {} }] = ['', {}]] = Object.entries(
    (of as { readonly content?: Readonly<Record<string, { readonly schema?: ShownSchema }>> }).content ?? {},
  )
  return html`<div><span class="note">${type}</span> ${typeOf(schema)}</div>`
}

function shape(name: string, schema: ShownSchema): Markup {
  return html`<article id="shape-${name}"><h3><code>${name}</code></h3>${typeOf(schema)}</article>
`
}

/** Names the type of a value, with the fields it has. */
function typeOf(schema: ShownSchema): Markup {
  const { $ref, anyOf, oneOf = anyOf, items, properties, additionalProperties, description } = schema
  const name = $ref?.split('/').at(-1)
  if (name !== undefined) return html`<a href="#shape-${name}"><code>${name}</code></a>`
  if (oneOf !== undefined) return html`one of<ul>${oneOf.map((one) => html`<li>${typeOf(one)}</li>`)}</ul>`
  const note = description === undefined ? '' : html`<span class="note">, ${prose(description)}</span>`
  if (items !== undefined) return html`list of ${typeOf(items)}${note}`
  if (properties !== undefined && Object.keys(properties).length > 0)
    return html`<span class="note">${prose(description ?? '')}</span>${fields(schema, properties)}`
  if (typeof additionalProperties === 'object') return html`by name: ${typeOf(additionalProperties)}${note}`
  return html`<span class="note">${words(schema)}</span>${note}`
}

function words({ type, const: only, enum: allowed }: ShownSchema): string {
  if (only !== undefined) return JSON.stringify(only)
  if (allowed !== undefined) return allowed.map((one) => JSON.stringify(one)).join(' | ')
  return type === undefined ? 'anything' : [type].flat().join(' | ')
}

function fields({ required = [] }: ShownSchema, properties: Readonly<Record<string, ShownSchema>>): Markup {
  const each = ([name, of]: [string, ShownSchema]) =>
    html`<li><code>${name}</code>${required.includes(name) ? '' : html` <span class="note">optional</span>`} ${typeOf(of)}</li>`
  return html`<ul>${Object.entries(properties).map(each)}</ul>`
}

/** A text that is HTML already. */
interface Markup {
  readonly markup: string
}

type Filled = string | Markup | readonly Markup[]

/** Returns HTML with everything that is filled in escaped, unless it is HTML itself. */
function html(texts: TemplateStringsArray, ...filled: readonly Filled[]): Markup {
  const parts = texts.map((text, at) => `${text}${at < filled.length ? markupOf(filled[at] ?? '') : ''}`)
  return { markup: parts.join('') }
}

/** Returns a text of this program as HTML, as it is. */
function plain(markup: string): Markup {
  return { markup }
}

function markupOf(filled: Filled): string {
  if (typeof filled === 'string') return escaped(filled)
  return 'markup' in filled ? filled.markup : filled.map(({ markup }) => markup).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
}
