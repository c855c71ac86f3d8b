#include "CCurl.h"
#include <COpened.h>

/* The macros of the header check types where these are called. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

#define EACH(X) \
    X(curl_easy_cleanup) X(curl_easy_getinfo) X(curl_easy_init) X(curl_easy_pause) X(curl_easy_setopt) \
    X(curl_easy_strerror) X(curl_free) X(curl_global_init) X(curl_multi_add_handle) X(curl_multi_info_read) \
    X(curl_multi_init) X(curl_multi_perform) X(curl_multi_poll) X(curl_multi_remove_handle) X(curl_multi_setopt) \
    X(curl_multi_strerror) X(curl_multi_wakeup) X(curl_share_init) X(curl_share_setopt) X(curl_slist_append) \
    X(curl_slist_free_all) X(curl_url) X(curl_url_cleanup) X(curl_url_get) X(curl_url_set)

OPENED(dogear_curl_trouble, "libcurl.so.4")

FORWARD(void, curl_easy_cleanup, (CURL *easy), (easy))
FORWARD(CURL *, curl_easy_init, (void), ())
FORWARD(CURLcode, curl_easy_pause, (CURL *easy, int mask), (easy, mask))
FORWARD(const char *, curl_easy_strerror, (CURLcode code), (code))
FORWARD(void, curl_free, (void *pointer), (pointer))
FORWARD(CURLcode, curl_global_init, (long flags), (flags))
FORWARD(CURLMcode, curl_multi_add_handle, (CURLM *multi, CURL *easy), (multi, easy))
FORWARD(CURLMsg *, curl_multi_info_read, (CURLM *multi, int *left), (multi, left))
FORWARD(CURLM *, curl_multi_init, (void), ())
FORWARD(CURLMcode, curl_multi_perform, (CURLM *multi, int *running), (multi, running))
FORWARD(CURLMcode, curl_multi_poll,
        (CURLM *multi, struct curl_waitfd fds[], unsigned int count, int timeout, int *ready),
        (multi, fds, count, timeout, ready))
FORWARD(CURLMcode, curl_multi_remove_handle, (CURLM *multi, CURL *easy), (multi, easy))
FORWARD(const char *, curl_multi_strerror, (CURLMcode code), (code))
FORWARD(CURLMcode, curl_multi_wakeup, (CURLM *multi), (multi))
FORWARD(CURLSH *, curl_share_init, (void), ())
FORWARD(struct curl_slist *, curl_slist_append, (struct curl_slist *list, const char *text), (list, text))
FORWARD(void, curl_slist_free_all, (struct curl_slist *list), (list))
FORWARD(CURLU *, curl_url, (void), ())
FORWARD(void, curl_url_cleanup, (CURLU *url), (url))
FORWARD(CURLUcode, curl_url_set, (CURLU *url, CURLUPart part, const char *text, unsigned int flags),
        (url, part, text, flags))

CURLUcode dogear_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags) {
    return real.curl_url_get(url, part, text, flags);
}
CURLcode dogear_setopt_long(CURL *easy, CURLoption option, long value) {
    return real.curl_easy_setopt(easy, option, value);
}
CURLcode dogear_setopt_off(CURL *easy, CURLoption option, curl_off_t value) {
    return real.curl_easy_setopt(easy, option, value);
}
CURLcode dogear_setopt_string(CURL *easy, CURLoption option, const char *value) {
    return real.curl_easy_setopt(easy, option, value);
}
CURLcode dogear_setopt_pointer(CURL *easy, CURLoption option, void *value) {
    return real.curl_easy_setopt(easy, option, value);
}
CURLcode dogear_setopt_data(CURL *easy, CURLoption option, dogear_curl_data value) {
    return real.curl_easy_setopt(easy, option, value);
}
CURLcode dogear_setopt_progress(CURL *easy, dogear_curl_progress value) {
    return real.curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, value);
}
CURLcode dogear_getinfo_long(CURL *easy, CURLINFO info, long *value) {
    return real.curl_easy_getinfo(easy, info, value);
}
CURLcode dogear_getinfo_string(CURL *easy, CURLINFO info, const char **value) {
    return real.curl_easy_getinfo(easy, info, value);
}
CURLMcode dogear_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return real.curl_multi_setopt(multi, option, value);
}
CURLSHcode dogear_share_sessions(CURLSH *share) {
    return real.curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}
