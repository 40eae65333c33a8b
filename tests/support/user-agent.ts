/** The User-Agent of the clients under test. */
export const USER_AGENT = 'postonce-test/1.0 (+https://postonce.test/contact)'
