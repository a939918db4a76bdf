import type { IncomingMessage } from 'node:http'
import type { Answer } from '../http-server.ts'
import type { Params } from './params.ts'
import { SlackApiError } from './slack-error.ts'
import type { WebApi } from './web-api.ts'

/** Describes a file to the bot. */
export function fileInfo({ world }: WebApi, params: Params): Readonly<Record<string, unknown>> {
  const file = world.fileOf(params.file)
  if (file === undefined) throw new SlackApiError('file_not_found')
  return { file: world.describeFile(file) }
}

/** Answers a request to the server of files; whoever shows no token that may read it is sent to the login page. */
export function downloadAnswer({ app, world }: WebApi, { url = '', headers }: IncomingMessage): Answer {
  const may = headers.authorization === `Bearer ${app.botToken}` && app.scopes.includes('files:read')
  if (!may) return { status: 302, body: '', headers: { location: 'https://rehearsal.slack.invalid/?redir=file' } }
  const file = world.fileOf(/^\/files-pri\/[^-/]+-([^/]+)\//.exec(url)?.[1])
  const isIt = file !== undefined && Object.values(world.describeFile(file)).includes(`${world.filesUrl}${url}`)
  return isIt ? { status: 200, body: Buffer.from(file.bytes) } : { status: 404, body: '<html>Not found</html>' }
}
