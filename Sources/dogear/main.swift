print("dogear")
