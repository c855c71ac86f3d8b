#pragma once
#include <curl/curl.h>

/* libcurl, opened with the first request: it brings thirty libraries along, whose loading took a third of the time from
   the start of dogear to its name on the bus, and is needed neither by commands nor by who listens to files. What its
   header declares and dogear calls is defined in curl.c. */

/* Why libcurl cannot be used, or NULL once it is there; see COpened.h. */
const char *dogear_curl_trouble(void);

/* Declared differently from one version to the next. */
CURLUcode dogear_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags);

/* curl_easy_setopt, curl_easy_getinfo, curl_multi_setopt and curl_share_setopt are variadic: one wrapper for each type
   that is passed. */

typedef size_t (*dogear_curl_data)(char *bytes, size_t size, size_t count, void *context);
typedef int (*dogear_curl_progress)(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

CURLcode dogear_setopt_long(CURL *easy, CURLoption option, long value);
CURLcode dogear_setopt_off(CURL *easy, CURLoption option, curl_off_t value);
CURLcode dogear_setopt_string(CURL *easy, CURLoption option, const char *value);
CURLcode dogear_setopt_pointer(CURL *easy, CURLoption option, void *value);
CURLcode dogear_setopt_data(CURL *easy, CURLoption option, dogear_curl_data value);
CURLcode dogear_setopt_progress(CURL *easy, dogear_curl_progress value);
CURLcode dogear_getinfo_long(CURL *easy, CURLINFO info, long *value);
CURLcode dogear_getinfo_string(CURL *easy, CURLINFO info, const char **value);
CURLMcode dogear_multi_setopt_long(CURLM *multi, CURLMoption option, long value);
CURLSHcode dogear_share_sessions(CURLSH *share);
