/**
 * The words that packed texts have in common, by number: part of the format. A dictionary never changes, or what was packed
 * with it is lost; a better one is added behind the others, and the release that adds it raises the layout.
 */
const HISTORY = [
  '{"at":1796000000000,"event":"status.reported","from":"INPUT_REQUIRED.waiting","to":"TERMINAL_OBSERVED.deciding","executor":"x-","note":"',
  '{"at":1796000000000,"event":"outcome.lost","from":"SUBMISSION_UNKNOWN.lookingUp","to":"CANCEL_REQUESTED.sending","executor":"x-"}',
  '{"at":1796000000000,"event":"submit.begin","from":"SUBMITTING.queued","to":"SUBMITTING.sending","executor":"x-"}',
  '{"at":1796000000000,"event":"submit.acknowledged","from":"SUBMITTING.sending","to":"WORKING.polling","executor":"x-","note":"working"}',
  '{"at":1796000000000,"event":"created","from":"","to":"SUBMITTING.queued","executor":"x-"}',
].join('');

const REQUEST = '{"tool":"","arguments":{"","ttlMs":null},"ttlMs":3600000}';

/** A record: state and compared fields, then its snapshot, the text that is most of it. */
const RECORD = [
  '["FETCHING_RESULT.fetching","completed","failed","cancelled"]["INPUT_REQUIRED.waiting"]["WORKING.polling","","","","","1","0","",""]\n',
  '{"schema":"toolOperation.v1","machineVersion":3,"minReaderVersion":2,"value":{"SUBMITTING":"sending"},"value":{"WORKING":"polling"},',
  '"context":{"schema":"toolOperation.v1","operationId":"p0","namespace":"default","principal":"local","callNodeId":"","requestDigest":"',
  '","tool":{"name":"","version":"","protocol":"mcp-2026-07-28","protocol":"mcp-2025-11-25","endpoint":{"id":"","kind":"stdio","kind":"http","url":"http://127.0.0.1:/mcp"},',
  '"submissionKey":"","keyValidUntil":null,"keyValidUntil":179,"capabilities":{"cancelSupported":true,"cancelEvidence":"terminal","lookup":"none","lookup":"closing",',
  '"deduplicates":false,"deduplicates":true,"input":"none","input":"channel","inputRedelivery":false,"effectFree":false},',
  '"policy":{"pollIntervalMs":2000,"minPollIntervalMs":250,"maxPollIntervalMs":60000,"jitter":0.1,"maxBackoffMs":30000,"waitBudgetMs":3600000,',
  '"lookupBudgetMs":120000,"fetchBudgetMs":300000,"cancelBudgetMs":60000,"inputDeadlineMs":3600000,"parkedIntervalMs":60000},',
  '"session":{"sessionId":"","protocolVersion":"2026-07-28"},"session":{"sessionId":null,"protocolVersion":"2025-11-25"},"executionEpoch":1,"attempt":1,"closedThroughAttempt":0,"sentThroughAttempt":1,',
  '"sender":null,"sender":"","cancelGeneration":0,"pollCursor":1,"inputRound":0,"taskId":"","taskCreatedAt":"2026-12-02T08:00:00.000Z",',
  '"serverStatus":"working","statusMessage":null,"pollIntervalMs":null,"expiry":null,"createdAt":1796,"updatedAt":1796,"dueAt":1796,"failures":0,',
  '"waitDeadline":1796,"stepDeadline":null,"pausedAt":null,"cancel":null,"input":null,"answeredKeys":[],"terminal":null,"result":null,"candidate":null,',
  '"auditResult":null,"outputVerdict":null,"notSubmitted":null,"missing":null,"parked":null,"givenUp":null,"effectReconciliationRequired":false,"inbox":[],"audit":[]}}',
].join('');

export const DICTIONARIES: readonly string[] = [HISTORY + REQUEST + RECORD];
