/** The tools that need no file and no server, by the names that rules have for them; no other tool may have one. */
export const TOOL_NAMES: readonly string[] = [
  ...['current_time', 'sessions_list', 'sessions_history', 'sessions_send', 'send_message', 'ask', 'react', 'task'],
  ...['schedule_create', 'schedule_list', 'schedule_cancel', 'skill', 'web_fetch', 'web_search', 'send_file'],
  ...['memory_save', 'memory_search', 'memory_forget', 'session_search'],
]
