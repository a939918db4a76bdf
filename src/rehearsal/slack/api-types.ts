/** The platform's objects, as far as they are rehearsed. */
export interface ApiUser {
  readonly id: string
  readonly team_id: string
  readonly name: string
  readonly real_name: string
  readonly is_bot: boolean
  readonly enterprise_user?: { readonly id: string; readonly enterprise_id: string; readonly teams: readonly string[] }
  readonly profile: { readonly real_name: string; readonly display_name: string }
}

export type ChannelKind = 'channel' | 'group' | 'im' | 'mpim'

export interface ApiMetadata {
  readonly event_type: string
  readonly event_payload: Readonly<Record<string, unknown>>
}

export interface ApiMessage {
  readonly type: 'message'
  readonly subtype?: string
  readonly user?: string
  readonly bot_id?: string
  readonly app_id?: string
  readonly team?: string
  readonly user_team?: string
  readonly source_team?: string
  readonly client_msg_id?: string
  readonly text: string
  readonly ts: string
  readonly thread_ts?: string
  readonly parent_user_id?: string
  readonly edited?: { readonly user: string; readonly ts: string }
  readonly metadata?: ApiMetadata
  readonly [field: string]: unknown
}

/** The event inside an `event_callback`. */
export type ApiEvent = Readonly<Record<string, unknown>> & { readonly type: string }
