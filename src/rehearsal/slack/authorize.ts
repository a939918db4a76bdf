import type { AppState } from './app-state.ts'
import { SlackApiError } from './slack-error.ts'

/**
 * Checks the bearer token of a call.
 * @throws SlackApiError like the platform's refusal
 */
export function authorize(app: AppState, authorization: string | undefined, wanted: 'bot' | 'app'): void {
  const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1]
  if (token === undefined) throw new SlackApiError('not_authed')
  const [right, other] = wanted === 'bot' ? [app.botToken, app.appToken] : [app.appToken, app.botToken]
  if (token === other) throw new SlackApiError('not_allowed_token_type')
  if (token !== right) throw new SlackApiError('invalid_auth')
  const refusal = wanted === 'bot' ? app.botTokenRefusal : app.appTokenRefusal
  if (refusal !== null) throw new SlackApiError(refusal)
}
