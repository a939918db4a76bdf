/**
 * The fields and kinds that the platform documents for a message and its parts. What a script adds to a message has to
 * be among them: a misspelt field would rehearse nothing.
 */
const SUBTYPES: ReadonlySet<unknown> = new Set(
  `assistant_app_thread bot_add bot_message bot_remove channel_archive channel_convert_to_private
  channel_convert_to_public channel_join channel_leave channel_name channel_posting_permissions channel_purpose
  channel_topic channel_unarchive document_mention ekm_access_denied file_comment file_mention file_share group_archive
  group_join group_leave group_name group_purpose group_topic group_unarchive huddle_thread joiner_notification
  joiner_notification_for_inviter me_message pinned_item reminder_add reminder_delete sh_room_created
  slackbot_response thread_broadcast tombstone unpinned_item`.split(/\s+/),
)

const FIELDS = setOf(`app_id assistant_app_thread assistant_thread attachments blocks bot_id bot_profile channel_type
  client_msg_id display_as_bot edited file files hidden icons inviter is_locked latest_reply metadata name no_notifications
  old_name parent_user_id permalink pinned_to purpose reactions reply_count reply_users reply_users_count room root
  source_team streaming_state subscribed subtype team text thread_ts topic ts upload user user_profile user_team username
  x_files`)

const ATTACHMENT_FIELDS = setOf(`actions app_id app_unfurl_url author_icon author_id author_link author_name
  author_subname blocks bot_id bot_team_id callback_id channel_id channel_name channel_team color fallback fields files
  footer footer_icon from_url hide_color id image_bytes image_height image_url image_width indent is_app_unfurl
  is_file_attachment is_msg_unfurl is_reply_unfurl is_share is_thread_root_unfurl list list_id list_record list_record_id
  list_records list_schema list_view list_view_id message_blocks metadata mrkdwn_in msg_subtype original_url pretext
  preview service_icon service_name service_url text thumb_height thumb_url thumb_width title title_link ts url
  video_html video_html_height video_html_width`)

const BLOCKS = setOf(`actions alert call canvas card carousel condensed_message container context context_actions
  data_table data_visualization divider file header image input markdown plan rich_text section share_shortcut table
  task_card video`)

const FILE_MODES = setOf('email external file_access hidden_by_limit hosted list post quip snippet space tombstone')

/** Checks what a script adds to a message. @throws Error where the platform knows no such field or kind */
export function checkFields(fields: Readonly<Record<string, unknown>>): void {
  refuseOthers('field', Object.keys(fields), FIELDS)
  if (fields.subtype !== undefined) refuseOthers('subtype', [fields.subtype], SUBTYPES)
  refuseOthers('block', typesOf(fields.blocks), BLOCKS)
  for (const attachment of recordsIn(fields.attachments)) {
    refuseOthers('attachment field', Object.keys(attachment), ATTACHMENT_FIELDS)
    refuseOthers('block', typesOf(attachment.blocks), BLOCKS)
  }
  const modes = recordsIn(fields.files).map(({ mode }) => mode)
  refuseOthers(
    'mode of files',
    modes.filter((mode) => mode !== undefined),
    FILE_MODES,
  )
}

function refuseOthers(what: string, given: readonly unknown[], known: ReadonlySet<unknown>): void {
  const other = given.find((one) => !known.has(one))
  if (other !== undefined) throw new Error(`The platform has no ${what} ${JSON.stringify(other)}; raw sends anything.`)
}

function typesOf(blocks: unknown): readonly unknown[] {
  return recordsIn(blocks).map(({ type }) => type)
}

function recordsIn(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list : []
}

function setOf(names: string): ReadonlySet<unknown> {
  return new Set(names.split(/\s+/))
}
